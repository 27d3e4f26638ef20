"""Programs of many ranks: what they tell each other of bad values, and one report of all."""
