"""Pictures of what is no one lab's: data in, figure out."""
