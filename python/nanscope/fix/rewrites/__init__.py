"""One file per family of rewrites. Each has `propose(case)`: candidates, best first, or none."""
