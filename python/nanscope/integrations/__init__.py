"""nanscope in other people's tools: one file for each, imported only when it is asked for."""
