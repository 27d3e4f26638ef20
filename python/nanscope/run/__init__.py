"""A program run as python would run it, watched, judged when it ends, and reported."""
