"""What later Pythons do is not here, and annotations are not looked at."""
annotations = division = None
