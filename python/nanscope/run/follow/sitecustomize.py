"""Read by a Python that a watched program starts: it begins anew under the watch.

Stands in a folder of its own, which the environment of that Python names first. What it sees of
itself afterwards is as if it were not there.
"""

import os
import sys


def _take_out_folder():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != here]
    left = [e for e in os.environ.get("PYTHONPATH", "").split(os.pathsep) if e != here]
    if os.environ.pop("NANSCOPE_NO_PYTHONPATH", None) is not None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = os.pathsep.join(left)


def _begin():
    _take_out_folder()
    if "NANSCOPE_FOLLOW" not in os.environ:
        return
    try:
        from nanscope.run.following import begin_anew
    except Exception:  # another interpreter, which has no nanscope: it runs unwatched
        os.environ.pop("NANSCOPE_FOLLOW", None)
        return
    begin_anew()


_begin()
# The environment's own one, whose place this file took.
sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize  # noqa: F401
except ImportError as error:
    if error.name != "sitecustomize":
        raise
