"""Hooks of torch that tell the adapter what no kernel shows."""
