"""Ask: can one tell from an explanation what a model answers next? Counterfactual simulatability, Chen et al. 2023."""
