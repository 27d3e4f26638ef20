"""Regions that torch.compile makes: looked at where they end, and computed again eagerly, on the
same inputs and under the watch, when something bad comes out of one.

`attach.py` is the way in; docs/compiled.md says what holds.
"""
