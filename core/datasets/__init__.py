"""The labs' data sets: the files that a person brings, read into items of one shape."""
