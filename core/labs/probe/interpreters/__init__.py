"""The interpreters: they describe a function from what they can observe of it."""
