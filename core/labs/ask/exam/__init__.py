"""The qualification test of a predictor for Ask: can the model tell what an explanation implies?"""
