"""The labs' data sets: files that a person provides, read in their original formats."""
