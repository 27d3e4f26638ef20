"""Each child is stopped, and tries to end with 0 all the same. Prints how each ended."""

import atexit
import contextlib
import multiprocessing as mp
import os
import posix
import signal
import sys
import threading

import torch

w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)


def step(factor):
    opt.zero_grad()
    (w * factor).log().sum().backward()
    opt.step()


for _ in range(3):
    step(1)


def in_a_thread():
    t = threading.Thread(target=lambda: step(0))
    t.start()
    t.join()
    os._exit(0)


def thread_exits():
    def run():
        try:
            step(0)
        finally:
            os._exit(0)

    t = threading.Thread(target=run)
    t.start()
    t.join()


def at_exit():
    atexit.register(lambda: os._exit(0))
    step(0)


def catches_and_returns():
    try:
        step(0)
    except BaseException:
        pass


def catches_and_sys_exits():
    try:
        step(0)
    except BaseException:
        sys.exit(0)


def catches_and_raises():
    try:
        step(0)
    except BaseException:
        raise SystemExit(0) from None


def real_exit():
    try:
        step(0)
    finally:
        posix._exit(0)


def spawns_and_returns():
    try:
        step(0)
    except BaseException:
        pid = os.posix_spawn("/bin/true", ["true"], os.environ)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def handler():
    signal.signal(signal.SIGUSR1, lambda *a: os._exit(0))
    try:
        step(0)
    finally:
        os.kill(os.getpid(), signal.SIGUSR1)
        os._exit(0)


def killed():
    try:
        step(0)
    finally:
        os.kill(os.getpid(), signal.SIGKILL)


def terminated():
    try:
        step(0)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)


def generator():
    def g():
        try:
            step(0)
        finally:
            yield 1

    for _ in g():
        break
    os._exit(0)


def hook():
    sys.excepthook = lambda *a: os._exit(0)
    step(0)


def two_steps():
    for f in (0, 0, 1):
        try:
            step(f)
        except BaseException:
            continue
    os._exit(0)


def suppressed():
    with contextlib.suppress(BaseException):
        step(0)
    os._exit(0)


def forks_again():
    try:
        step(0)
    except BaseException:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def fork_in_a_thread():
    out = []

    def run():
        pid = os.fork()
        if pid == 0:
            step(0)
            os._exit(0)
        out.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    t = threading.Thread(target=run)
    t.start()
    t.join()
    return out[0]


def fork_in_a_thread_returns():
    out = []

    def run():
        pid = os.fork()
        if pid == 0:
            step(0)
            return
        out.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    t = threading.Thread(target=run)
    t.start()
    t.join()
    return out[0]


def fork_in_a_thread_catches():
    out = []

    def run():
        pid = os.fork()
        if pid == 0:
            try:
                step(0)
            except BaseException:
                pass
            return
        out.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    t = threading.Thread(target=run)
    t.start()
    t.join()
    return out[0]


def in_a_fork(way):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        way()
        sys.exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def in_a_process(way):
    child = mp.get_context("fork").Process(target=way)
    child.start()
    child.join()
    return child.exitcode


for way in (
    in_a_thread,
    thread_exits,
    at_exit,
    catches_and_returns,
    catches_and_sys_exits,
    catches_and_raises,
    real_exit,
    spawns_and_returns,
    handler,
    killed,
    terminated,
    generator,
    hook,
    two_steps,
    suppressed,
    forks_again,
):
    print(way.__name__, in_a_fork(way), in_a_process(way), flush=True)
for way in (fork_in_a_thread, fork_in_a_thread_returns, fork_in_a_thread_catches):
    print(way.__name__, way(), flush=True)
