"""Where programs that a model wrote run: bounded in all they may use."""
