"""What one calls from Python: one file per family of functions."""
