"""What a lab declares: its specification, cases, figures, and the declaration itself."""
