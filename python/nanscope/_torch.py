"""The adapter for the torch that is installed, under one name.

There is one for each minor of torch, `nanscope._torch_2_13` and its like: what differs between two
of them is the layout of classes, which no linker notices. So the very minor is asked for.
"""

import sys
from importlib import import_module

import torch

from nanscope import support

_problem = support.torch_problem(torch.__version__)
if _problem is not None:
    raise ImportError(_problem)

# Whoever imports this module is given the other one.
sys.modules[__name__] = import_module(f"nanscope.{support.adapter_of(torch.__version__)}")
