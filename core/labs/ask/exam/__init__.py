"""The exam of a predictor, which tells whether it can judge what explanations of Ask are worth."""
