"""Charts that belong to no single lab: data in, figure out."""
