"""What every lab is made of: its specification, cases, metrics, and the declaration itself."""
