"""What a woken snapshot does: the same steps again, mute, under the exact watch."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from typing import NoReturn

from nanscope import _core
from nanscope.moments import held
from nanscope.run.ending import REAL_EXIT
from nanscope.sentinel import answers, files
from nanscope.telling import expression, modules, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.run.conclusion import Conclusion
    from nanscope.sentinel.looks import Host
    from nanscope.sentinel.snapshots import Woken

# What describes a finding: loaded before the snapshot, since the disk may have changed when it
# is woken (a package that is being installed anew).
DESCRIBERS = (expression, held, modules, names)


class Replay:
    def __init__(self, woken: Woken, adapter: ModuleType, host: Host) -> None:
        self.woken = woken
        self.adapter = adapter
        self.host = host
        self.ends_at_last_moment = woken.last_moment < 0
        self.scratch = scratch_of(os.getpid())
        self.unexplained = False
        self.began_at = adapter.sentinel_counts()[2]

    def begin(self) -> None:
        os.environ["NANSCOPE_REPLAY"] = "1"
        files.open_anew(self.woken.files, {self.woken.answer})
        self._leave_the_world()
        self.host.watch_exactly(self.woken.run)
        self.adapter.begin_replay(abs(self.woken.last_moment))

    def _leave_the_world(self) -> None:
        os.mkdir(self.scratch, 0o700)
        folder = os.getcwd()
        unguarded = _core.leave_the_world(self.scratch, files.places_to_cover())
        answers.send_unguarded(self.woken.answer, unguarded)
        if unguarded != [""]:
            os.chdir(folder)  # what covers it, not what is below

    # ---------------------------------------------------------------- the end, of three kinds
    def error(self) -> NoReturn:
        """An error is found, on the thread that did harm."""
        self.send(self.host.conclude_replay("stopped"))

    def last_moment(self) -> NoReturn:
        """The moment of the alarm has come and is judged."""
        kind = "signal" if self.ends_at_last_moment else "normally"
        self.look_for_unexplained()
        self.send(self.host.conclude_replay(kind, ended=self.ends_at_last_moment))

    def look_for_unexplained(self) -> None:
        """Before the session is ended: is something bad of which the exact watch knows nothing?"""
        optimizers = held.alive(sys.modules["torch"].optim.Optimizer)
        for optimizer in optimizers:  # `param_groups[0]["params"].append(x)` registers nothing
            self.adapter.optimizer_found(optimizer)
        self.unexplained = self.adapter.holds_unexplained(optimizers)

    def send(self, conclusion: Conclusion, ending: str = "") -> NoReturn:
        """What was judged; also where the program came to an end of its own."""
        moments = self.adapter.sentinel_counts()[0]
        how = {
            "moments": moments,
            "ending": ending,
            "complaints": conclusion.complaints,
            "unexplained": self.unexplained,
        }
        answers.send(self.woken.answer, how, conclusion.capture.to_bytes())
        REAL_EXIT(0)

    def gaps(self) -> list[tuple[str, str, int]]:
        gaps = []
        if self.began_at:
            why = "the exact watch began there, in a replay from a snapshot"
            gaps.append((f"what came before step {self.began_at}", why, 1))
        comparison = answers.Comparison(self.adapter)
        if not comparison.equal:
            gaps.append(("the run itself", f"the replay was {comparison.sentence()}", 1))
        return gaps


def scratch_of(pid: int) -> str:
    return os.path.join(tempfile.gettempdir(), f"nanscope-replay-{pid}")


def clean_up_after(pid: int) -> None:
    shutil.rmtree(scratch_of(pid), ignore_errors=True)
