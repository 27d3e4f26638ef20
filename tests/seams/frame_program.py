"""Run by test_python_frame.py with each Python: the seam's stacks beside those of sys._getframe.

Prints the number of stacks that were compared. The first that differs ends it.
"""

import asyncio
import functools
import sys
import threading
import traceback

import frame_probe

compared = 0


def position(code, lasti):
    return list(code.co_positions())[lasti // 2]


def by_getframe():
    frame = sys._getframe(2)
    while frame is not None:
        yield frame.f_code, frame.f_lasti
        frame = frame.f_back


def check(*_):
    """What the seam says of our callers is what Python says."""
    global compared
    seen, expected = frame_probe.stack()[1:], list(by_getframe())
    assert [code for code, _, _ in seen] == [code for code, _ in expected], (seen, expected)
    for (code, lasti, _), (_, right) in zip(seen, expected, strict=True):
        assert position(code, lasti) == position(code, right), (code, lasti, right)
    compared += 1
    return seen


class Layer:
    def forward(self, x):
        return check()

    def with_a_cell(self):
        return check(), (lambda: self)

    def __enter__(self):
        check()

    def __exit__(self, *_):
        check()

    def __getattr__(self, name):
        check()
        return 1

    def __add__(self, other):
        return check()

    def __del__(self):
        check()

    @property
    def shown(self):
        return check()


def generate():
    check()
    yield 1
    yield from (check() for _ in range(2))


def recurse(depth):
    return check() if depth == 0 else recurse(depth - 1)


async def coroutine():
    check()
    await asyncio.sleep(0)
    check()


def two_places():
    return frame_probe.places()[0], frame_probe.places()[0]


def hidden():
    check()
    return sys._getframe().f_back, len(traceback.extract_stack()), len(frame_probe.stack())


def fails():
    raise ZeroDivisionError


def main():
    layer = Layer()
    assert layer.forward(1)[0][2] is layer, "the first local is self"
    cell = layer.with_a_cell()[0][0][2]
    assert cell is layer or cell.cell_contents is layer, "or a cell that holds it"
    with layer:
        pass
    layer.missing, layer + 1, layer.shown
    del layer
    list(map(lambda _: check(), [1]))
    sorted([2, 1], key=lambda x: (check(), x)[1])
    list(generate())
    [check() for _ in range(2)]
    functools.partial(check)()
    exec("check()")
    eval("check()")
    asyncio.run(coroutine())
    thread = threading.Thread(target=check)
    thread.start()
    thread.join()
    for depth in (0, 1, 20, 200):
        recurse(depth)

    first, second = two_places()
    assert first != second, "two expressions of a line are two places"
    assert two_places() == (first, second), "the same place has the same address"

    below, shown, seen = frame_probe.call_hidden(hidden)
    assert below is None and shown == 1 and seen == 1, "nothing below a hidden call"
    check()
    try:
        frame_probe.call_hidden(fails)
    except ZeroDivisionError as error:
        assert [at.name for at in traceback.extract_tb(error.__traceback__)] == ["main", "fails"]
    check()
    assert frame_probe.is_finalizing() is False


main()
print(compared)
