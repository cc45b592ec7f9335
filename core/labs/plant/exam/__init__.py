"""The qualification test of a judge for Plant: can the model tell which explanations acknowledge a cue?"""
