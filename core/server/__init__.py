"""People and their runs: who began one, what they keep of it, what they say of it and what they may take."""
