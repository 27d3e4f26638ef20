"""`--pdb`: the debugger, at the user's own frame, while the op that did harm has just returned."""

from __future__ import annotations

import pdb
import sys

from nanscope.errors import Stop
from nanscope.run.ending import say
from nanscope.telling.stack import is_user_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def open_at_the_users_frame(sentence: str) -> BaseException | None:
    """Returns when the user goes on; with `q` or at the end of the input, what stops the program.

    It talks on stderr: stdout belongs to the program.
    """
    frame = _innermost_of_the_user(sys._getframe().f_back)
    if frame is None:
        return Stop(sentence)
    say(f"nanscope: {sentence}\nThe debugger: `c` goes on, `q` stops the program.")
    prompt = pdb.Pdb(stdout=sys.stderr, nosigint=True)
    prompt.reset()
    prompt.interaction(frame, None)
    if prompt.quitting:
        return Stop(sentence)
    if prompt.stoplineno != -1 or prompt.breaks:  # `n`, `s`, `u 30`: it wants to be called again
        _trace(prompt, frame)
    return None


def _innermost_of_the_user(frame: FrameType | None) -> FrameType | None:
    while frame is not None and not is_user_code(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _trace(prompt: pdb.Pdb, frame: FrameType) -> None:
    outermost = frame
    while frame is not None:
        frame.f_trace = prompt.trace_dispatch
        outermost, frame = frame, frame.f_back
    prompt.botframe = outermost
    sys.settrace(prompt.trace_dispatch)
