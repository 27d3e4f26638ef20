"""Runs of the program with a patch in place, and what they show."""
