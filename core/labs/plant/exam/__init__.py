"""The exam of a model that reads reasons for Plant: whether it can tell what names a cue."""
