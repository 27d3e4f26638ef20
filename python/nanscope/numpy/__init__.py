"""The same finding for NumPy: the first operation that made a NaN or Inf."""
