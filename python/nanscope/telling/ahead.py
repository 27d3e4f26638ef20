"""Imports beforehand what a hit needs, on whichever thread it happens.

A program may fork while another of its threads is inside an import of ours: the child then has the
module half made, and a lock for it that nobody gives back. What has been imported is not locked.
"""

import linecache  # noqa: F401
import site
import sysconfig
import tempfile
import tokenize  # noqa: F401
import warnings  # noqa: F401

from nanscope.telling import (  # noqa: F401
    binding,
    composites,
    expression,
    functions,
    modules,
    names,
    shards,
    variables,
)


def import_all() -> None:
    """And what these import when they are first called."""
    sysconfig.get_paths()
    site.getusersitepackages()
    tempfile.gettempdir()
