"""How raw text is read: the authors' rules (`paper`) and ours for today's chat models (the other files)."""
