"""The `nanscope` command: the core reads it, and Python carries out what needs Python."""

from __future__ import annotations

import os
import sys

from nanscope import support

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope import _core


def main() -> int:
    """Carries out the command of `sys.argv`; the exit status."""
    problem = support.platform_problem()
    if problem is None:
        try:
            from nanscope import _core
        except ImportError as error:
            problem = f"nanscope's shared library cannot be loaded, install it again: {error}"
    if problem is not None:
        print(problem, file=sys.stderr)
        return 125

    outcome = _core.command_line(sys.argv, terminal(_core.Terminal()))
    if outcome.run is not None:
        from nanscope.run import verb

        return verb.carry_out(outcome.run)
    if outcome.fix is not None:
        from nanscope.fix.verb import command

        return command.carry_out(outcome.fix)
    if outcome.replay is not None:
        from nanscope.bad_batch import replay

        return replay.carry_out(outcome.replay)
    if outcome.mcp:
        from nanscope.integrations import mcp

        return mcp.carry_out()
    if outcome.doctor:
        from nanscope.run import doctor

        status = doctor.carry_out()
        if outcome.self_test and status == 0:
            from nanscope.api import self_test

            status = self_test.carry_out()
        if outcome.device and status == 0:
            from nanscope.api import device_trial

            status = device_trial.carry_out(outcome.device)
        return status
    return show(outcome)


def terminal(facts: _core.Terminal) -> _core.Terminal:
    facts.stdout_is_tty = os.isatty(1)
    facts.stderr_is_tty = os.isatty(2)
    facts.no_color = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    try:
        facts.columns = os.get_terminal_size(1).columns
    except OSError:
        pass  # not a terminal
    return facts


def show(outcome: _core.Outcome) -> int:
    try:
        write(1, outcome.out)
        write(2, outcome.err)
    except BrokenPipeError:
        pass  # the reader, `head` perhaps, has seen enough
    except OSError:
        return outcome.status or 1  # a full disk, a closed stdout
    return outcome.status


def write(descriptor: int, text: bytes) -> None:
    while text:
        text = text[os.write(descriptor, text) :]


if __name__ == "__main__":
    sys.exit(main())
