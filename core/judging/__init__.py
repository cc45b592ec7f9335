"""A judge model that labels explanations by a person's own scheme, held to that person's labels first."""
