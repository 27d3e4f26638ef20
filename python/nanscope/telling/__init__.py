"""From frames to words: source text, expressions, names, stacks, modules."""
