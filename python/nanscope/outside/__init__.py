"""What torch does not compute: the NumPy of the program, files, data loaders, Python numbers."""
