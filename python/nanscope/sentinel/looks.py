"""What is done when a look finds something that is not finite, and when the program ends."""

from __future__ import annotations

import os
import select
import sys
import time
from typing import Protocol

from nanscope.compiled.processes import end_workers
from nanscope.run.ending import REAL_EXIT, say
from nanscope.run.progress import Progress
from nanscope.sentinel import answers
from nanscope.sentinel.connections import Connections
from nanscope.sentinel.obstacles import resident_bytes, why_no_snapshot
from nanscope.sentinel.replay import Replay, clean_up_after
from nanscope.sentinel.snapshots import TO_THE_END, Snapshot, Snapshots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.run.conclusion import Conclusion

SHARE_OF_TIME = 0.002  # that snapshots may cost
COPIED_PER_SECOND = 1e9  # bytes: what the run writes after a fork is copied first
LEAST_SECONDS = 60.0
RETRY_SECONDS = 5.0
ENOUGH_STEPS = 32  # to go from a snapshot: as many as the history of a finding tells of
MOST_FALSE_ALARMS = 2
MOST_UNDONE = 20  # that are listed
REPLAY_TIMES = 10.0  # as long as the run took, and so many seconds more: against a hang alone
REPLAY_SECONDS = 300.0

NO_SNAPSHOT = "nanscope: no {}snapshot can be taken: {}. If a step goes bad, {}."
WAKES = "nanscope: {} is not finite at step {}; the steps since step {} are run again, watched."
WAKES_AT_END = "nanscope: {}; the program is run again from step {}, watched."
UNGUARDED = (
    "nanscope: the system could not keep the replay's files apart: what the program opened during "
    "it {}was really written, renamed or deleted once more."
)
UNEXPLAINED = "nothing that the replay watched had made it so"
GOES_EXACT = "nanscope: {} From step {} on every operation is watched."


class Host(Protocol):
    """Whose sentinel it is: a run, or a watch() block."""

    def watch_exactly(self, run: int = 0) -> None: ...
    def conclude_replay(self, kind: str, ended: bool = False) -> Conclusion: ...
    def exception_for_answer(self, answer: answers.Answer) -> BaseException | None: ...
    def may_be_undone(self, answer: answers.Answer) -> bool: ...
    def keep(self, answer: answers.Answer) -> None: ...
    def forget(self, answer: answers.Answer) -> None: ...


class Sentinel:
    def __init__(self, adapter: ModuleType, host: Host, every: float, quiet: bool) -> None:
        self.adapter = adapter
        self.host = host
        self.every = every
        self.quiet = quiet
        self.snapshots = Snapshots(adapter)
        self.replay: Replay | None = None  # in a snapshot that was woken
        self.answer: answers.Answer | None = None  # an error
        self.waits = False  # it may still be undone: Note [Undone harm] in undoing.h
        self.undone: list[answers.Answer] = []
        self.exact_from: int | None = None  # the step from which on every op is watched
        self.false_alarms = 0
        self.connections = Connections()
        self.next_at = 0.0  # the earliest time of the next snapshot
        self.begun_before_us = False  # nobody looked at what the program had done by then
        self.said_obstacle = False
        self.said_unguarded: set[str] = set()
        self.ended = False
        self.remarks: list[str] = []  # for the report
        self.gaps: list[tuple[str, str, int]] = []

    # ---------------------------------------------------------------- snapshots
    def begin(self) -> None:
        self.adapter.begin_looks(self.alarm, self.due, self.last_moment)

    def due(self) -> None:
        """Takes a snapshot; returns in it, too, when it is woken.

        Also called after the first step, to say then already if none could be taken.
        """
        if self.ended:
            return  # a signal's last words are being said, by another thread
        began = time.monotonic()
        end_workers()
        memory = self.adapter.sentinel_memory()
        reason = why_no_snapshot(sys.modules["torch"], memory, self.connections)
        moments, _, steps = self.adapter.sentinel_counts()
        if reason is None and began >= self.next_at:
            try:
                woken = self.snapshots.take(moments, steps)
            except OSError as error:
                reason = f"the system says: {error.strerror}"
            else:
                if woken is not None:
                    self._run_again(woken)
                    return
                self.next_at = began + self.pause_after(time.monotonic() - began)
        if reason is not None:
            self._say_obstacle(reason, bool(moments))
            retry = min(self.every or RETRY_SECONDS, RETRY_SECONDS)
            self.next_at = max(self.next_at, began + retry)
        self.adapter.next_snapshot_in(self.next_at - began if moments else 0)

    def due_at_once(self) -> None:
        self.next_at = 0.0
        self.adapter.next_snapshot_in(0)

    def _say_obstacle(self, reason: str, begun: bool) -> None:
        """Once; not before the first step if there is a snapshot to use."""
        alive = self.snapshots.alive
        if self.said_obstacle or (alive and not begun):
            return
        self.said_obstacle = True
        if alive:
            then = f"the steps since step {alive[-1].steps} are run again"
            self._say(NO_SNAPSHOT.format("newer ", reason, then))
        else:
            then = "every operation is watched from there on"
            self._say(NO_SNAPSHOT.format("", reason, then))

    def before_workers(self) -> None:
        """A loader is about to start its workers; while they live, no snapshot can be taken."""
        if self.adapter.snapshot_due():
            self.due()

    def pause_after(self, took: float) -> float:
        if self.every:
            return self.every
        cost = took + resident_bytes() / COPIED_PER_SECOND
        return max(LEAST_SECONDS, cost / SHARE_OF_TIME)

    def _run_again(self, woken) -> None:
        self.replay = Replay(woken, self.adapter, self.host)
        try:
            self.replay.begin()
        except BaseException:
            REAL_EXIT(1)

    def last_moment(self) -> None:
        self.replay.last_moment()

    # ---------------------------------------------------------------- a look found something
    def alarm(self, what: str) -> BaseException | None:
        """The exception to raise here, or None to go on."""
        if self.answer is not None and not self.is_undone():
            return None  # the first error is the answer, and the program was to go on
        moments, _, steps = self.adapter.sentinel_counts()
        answer = self._ask(moments, steps, lambda old: WAKES.format(what, steps, old.steps))
        if answer is not None and not self._is_of_this_run(answer, steps):
            self._say(
                f"nanscope: the replay failed at another step; {answer.comparison.sentence()}."
            )
            answer = None
        if answer is None:
            self._go_exact(f"{what} is not finite at step {steps}, {self._why_silent()}.", steps)
            return None
        if answer.error is None:
            self.false_alarms += 1
            if answer.unexplained:
                self._say_unexplained(f"step {steps}", answer)
            else:
                sentence = answer.comparison.sentence()
                self._say(f"nanscope: it did no harm: the replay was {sentence}.")
                self.adapter.buffers_explained()
            if self.false_alarms >= MOST_FALSE_ALARMS:
                self._go_exact("Such values are usual here.", steps)
            else:
                self.due_at_once()
            return None
        self._keep(answer)
        if self.host.may_be_undone(answer):
            self.waits = True
            self.adapter.open_for_replay(answer.source_tests_for_it)
            self.host.keep(answer)
            self.due_at_once()  # for what may come once it is undone
            return None
        return self.host.exception_for_answer(answer)

    def is_undone(self) -> bool:
        """What the error had spoilt was put back: it is no answer any more."""
        if not self.waits or not self.adapter.replay_was_undone():
            return False
        self.waits = False
        self.host.forget(self.answer)
        self.undone.append(self.answer)
        del self.undone[:-MOST_UNDONE]
        self.answer = None
        self.remarks.pop()
        self.due_at_once()
        return True

    @staticmethod
    def _is_of_this_run(answer: answers.Answer, step: int) -> bool:
        """A replay that took another way may have failed of something else."""
        if answer.comparison.equal or answer.error is None:
            return True
        harm = answer.error.harm
        return harm is not None and harm.step == step

    def _keep(self, answer: answers.Answer) -> None:
        self.answer = answer
        self.snapshots.end_all()
        doubt = (
            "" if answer.comparison.equal else " The origin is the replay's, likely the run's too."
        )
        self.remarks.append(f"nanscope: the replay was {answer.comparison.sentence()}.{doubt}")

    def _say_unexplained(self, when: str, answer: answers.Answer) -> None:
        """It was so before the snapshot, or another hand than an op's wrote it."""
        self._say(f"nanscope: {UNEXPLAINED}; it was {answer.comparison.sentence()}.")
        what = f"a parameter, buffer or optimizer's state that is not finite at {when}"
        self.gaps.append((what, UNEXPLAINED, 1))

    def _why_silent(self) -> str:
        if self.snapshots.taken:
            return "and no replay could tell why"
        return "and there is no snapshot from before"

    def _go_exact(self, why: str, step: int) -> None:
        self._say(GOES_EXACT.format(why, step))
        self.exact_from = step
        self.gaps.append((f"what came before step {step}", "--mode sentinel: no replay", 1))
        self.snapshots.end_all()
        self.adapter.end_looks()
        self.host.watch_exactly()

    # ---------------------------------------------------------------- the end
    def at_end(self, why: str, at_last_moment: bool) -> answers.Answer | None:
        """Something is not as it should be; None if no replay could tell."""
        self.ended = True
        moments, _, steps = self.adapter.sentinel_counts()
        last = -max(moments, 1) if at_last_moment else TO_THE_END
        answer = self._ask(last, steps, lambda old: WAKES_AT_END.format(why, old.steps))
        if answer is None:
            self.gaps.append(("the end of the program", f"{why}, {self._why_silent()}", 1))
        elif answer.error is not None:
            self._keep(answer)
        elif answer.unexplained:
            self._say_unexplained("the end of the program", answer)
        return answer

    def end(self) -> None:
        self.ended = True
        self.adapter.end_looks()
        self.snapshots.end_all()

    def forked(self) -> None:
        """In a child of the program: a sentinel of its own, whose first snapshot is yet to come."""
        self.snapshots.forked()
        self.begun_before_us = True
        self.due_at_once()

    # ---------------------------------------------------------------- asking a snapshot
    def _ask(self, last_moment: int, steps: int, words) -> answers.Answer | None:
        """The newest snapshot, and an older one if the value was there before it."""
        best = None
        reach = min(abs(last_moment), self.adapter.sentinel_counts()[0])
        for snapshot in self.snapshots.before(steps, ENOUGH_STEPS):
            self._say(words(snapshot))
            answer = self._run(snapshot, last_moment)
            if answer is not None and not answer.reached(reach):
                self._say(f"nanscope: the replay did not get there: {answer.early_end}.")
                answer = None
            if answer is None:
                continue
            if answer.error is None or answer.knows_the_origin:
                return best or answer if answer.error is None else answer
            best = best or answer
        if self.begun_before_us:
            return None  # it came from before the snapshot, and that is not from outside
        return best

    def _run(self, snapshot: Snapshot, last_moment: int) -> answers.Answer | None:
        self.adapter.begin_comparison()
        self.snapshots.alive.remove(snapshot)
        began = time.monotonic()
        limit = REPLAY_SECONDS + REPLAY_TIMES * (began - snapshot.taken_at)
        try:
            if not snapshot.wake_up(last_moment):
                return None
            if not self._wait_for(snapshot, began + limit):
                self._say(f"nanscope: the replay was ended after {limit:.0f} s, its limit.")
            comparison = answers.Comparison(self.adapter)
            unguarded, answer = answers.receive(snapshot.answer, comparison)
            self._say_unguarded(unguarded)
            return answer
        finally:
            snapshot.end()
            clean_up_after(snapshot.pid)

    def _say_unguarded(self, places: list[str]) -> None:
        """Says once of each place that a replay really wrote there; "" is everywhere."""
        new = [place for place in places if place not in self.said_unguarded]
        self.said_unguarded.update(new)
        if new:
            self._say(UNGUARDED.format(f"below {', '.join(new)} " if all(new) else ""))

    def _wait_for(self, snapshot: Snapshot, end: float) -> bool:
        moments = self.adapter.sentinel_counts()[0] - snapshot.moments
        progress = Progress(moments or None, "moments run again", False if self.quiet else None)
        try:
            handle = os.pidfd_open(snapshot.pid)
        except OSError:
            return True  # it is gone
        try:
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            while time.monotonic() < end:
                if poll.poll(100):
                    return True
                progress.reach(max(0, self.adapter.comparison()[0] - snapshot.moments))
            return False
        finally:
            progress.close()
            os.close(handle)

    def _say(self, text: str) -> None:
        if not self.quiet:
            say(text)
