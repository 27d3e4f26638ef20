"""`watch`: the verdict of `nanscope run` for a block, and nothing left behind.

In this process, where torch was imported long ago; what needs a fresh one starts it.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import weakref

import jsonschema
import pytest
import torch
from torch import nn

import nanscope
from nanscope import NonFiniteError
from watched import ENVIRONMENT, ROOT, SCHEMA

GOLDEN = ROOT / "tests" / "golden"
FINDING = {key: SCHEMA[key] for key in ("$schema", "$defs")} | {"$ref": "#/$defs/finding"}
NO_PATCH = (
    "looked for here; `nanscope fix` looks for one in a run of the program without this watch."
)


class Training:
    """A model and an optimizer that were made, and have stepped, before anybody watched."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.step(torch.randn(8, 3))

    def step(self, x: torch.Tensor) -> float:
        self.optimizer.zero_grad()
        loss = self.loss(self.net(x))
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @staticmethod
    def loss(out: torch.Tensor) -> torch.Tensor:
        return out.square().mean()


def bad_step(training: Training) -> None:
    training.optimizer.zero_grad()
    scores = training.net(torch.zeros(2, 3)) * 0
    loss = torch.log(scores).sum()
    loss.backward()
    training.optimizer.step()


def test_the_typed_finding_has_every_field_of_the_json() -> None:
    for name in ("awkward", "sqrt_gradient", "log_of_zero"):
        for finding in json.loads((GOLDEN / f"{name}.json").read_text())["findings"]:
            again = nanscope.Finding.from_json(finding).to_json()
            assert again == with_empty_remarks(finding, again)


def with_empty_remarks(data, again):
    """A remark that says nothing, and what is not there, are left out of the JSON."""
    if isinstance(data, list):
        return [with_empty_remarks(one, other) for one, other in zip(data, again, strict=True)]
    if not isinstance(data, dict):
        return data
    said = {key: with_empty_remarks(value, again[key]) for key, value in data.items()}
    empty = {"remark": "", "argument": "", "parameter": False, "feeding": None, "source": []}
    empty |= {"requires_grad": False}
    empty |= {"inputs_left_out": 0, "forewarning": None, "only_compiled": None}
    empty |= {"before": [], "after": [], "exponents": None, "bad_map": None}
    empty |= {"cleaned": [], "cleaned_more": 0, "parent": None}
    empty |= {"modules": [], "modules_left_out": 0}
    empty |= {"device": "cpu", "collective": None}
    empty |= {"given": [], "received_by": [], "received_by_more": 0}
    empty |= {"healthy": [], "undone": None, "allowed": None, "made": None}
    empty |= {"saved": None, "exactly": None, "first_loss": 0}
    empty |= {"losses_before": [], "losses_after": []}
    return {key: value for key, value in empty.items() if key in again} | said


def test_raises_where_the_harm_happens_while_training_is_under_way() -> None:
    training = Training()
    with pytest.raises(NonFiniteError) as caught:
        with nanscope.watch() as w:
            training.step(torch.randn(8, 3))
            bad_step(training)
            raise AssertionError("it was not stopped")
    finding = caught.value.finding
    assert w.finding == finding and w.verdict == "error"
    assert finding.level == "error" and finding.origin.op == "aten::log"
    assert finding.origin.site.code == "torch.log(scores)"
    assert finding.origin.site.function == "bad_step"
    assert finding.cause.id == "log_of_zero" and finding.inputs[0].name == "scores"
    assert finding.inputs[0].exponents.bins == [] and finding.inputs[0].exponents.looked_at == 2
    assert finding.outputs[0].bad_map.cells == [1, 1]
    assert [module.path for module in finding.modules][:2] == ["training.net", "training.net.0"]
    assert finding.modules[1].weight > 0 and finding.modules[1].weight_dtype == "float32"
    assert finding.harm.kind in ("gradient", "loss") and finding.origin.value == float("-inf")
    jsonschema.validate(finding.to_json(), FINDING)
    assert nanscope.check_weights(training.net).ok, "stopped before the optimizer wrote"
    parts = ["First Bad Operation", "Root Cause", "Input Statistics", "Fix", "Verification"]
    text = str(caught.value)
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert NO_PATCH in text and NO_PATCH in w.report


def test_report_goes_on_and_prints_the_diagnosis(capsys: pytest.CaptureFixture) -> None:
    training = Training()
    with nanscope.watch(training.net, on_find="report") as w:
        bad_step(training)
    assert w.finding.origin.op == "aten::log" and not nanscope.check_weights(training.net).ok
    printed = capsys.readouterr().err
    assert (
        "First Bad Operation" in printed and "Coverage:" in printed and printed.rstrip() in w.report
    )


def test_callable_is_given_the_finding() -> None:
    training, found = Training(), []
    with nanscope.watch(on_find=found.append):
        bad_step(training)
    assert found[0].origin.op == "aten::log" and all(f.level == "error" for f in found)


def test_healthy_block_and_masks_are_clean() -> None:
    training = Training()
    with nanscope.watch() as w:
        for _ in range(3):
            training.step(torch.randn(8, 3))
        scores = torch.randn(2, 4).masked_fill(torch.eye(2, 4, dtype=torch.bool), float("-inf"))
        torch.softmax(scores, -1).sum().item()
    assert w.finding is None and w.verdict == "clean" and "clean" in w.report


def test_the_end_of_the_block_is_the_end_of_the_program() -> None:
    training = Training()
    with pytest.raises(NonFiniteError) as caught, nanscope.watch():
        loss = torch.log(training.net(torch.zeros(2, 3)) * 0).sum()
        loss.backward()  # and no step: the harm shows when it ends
    assert caught.value.finding.harm.kind in ("loss", "gradient")


def test_an_exception_of_the_programs_own_passes() -> None:
    with pytest.raises(KeyError, match="mine"), nanscope.watch() as w:
        raise KeyError("mine")
    assert w.finding is None


def test_an_exception_because_of_nan_carries_the_finding() -> None:
    with pytest.raises(RuntimeError, match="probability tensor") as caught:
        with nanscope.watch() as w:
            p = torch.log(torch.tensor([0.0, -1.0]))
            torch.multinomial(p, 1)
    assert w.finding is not None and w.finding.harm.kind == "exception"
    assert "First Bad Operation" in caught.value.__notes__[0]


def test_as_a_decorator_each_call_is_a_block() -> None:
    training = Training()

    @nanscope.watch(on_find="raise")
    def one(bad: bool) -> str:
        """Its own."""
        bad_step(training) if bad else training.step(torch.randn(8, 3))
        return "done"

    assert one.__doc__ == "Its own." and one(False) == "done"
    for _ in range(2):
        with pytest.raises(NonFiniteError):
            one(True)
    assert one(False) == "done"


def test_as_a_decorator_without_parentheses() -> None:
    training = Training()

    @nanscope.watch
    def one() -> None:
        bad_step(training)

    with pytest.raises(NonFiniteError):
        one()


def test_what_runs_later_cannot_be_decorated() -> None:
    def batches():
        yield 1

    async def fetch() -> None: ...

    for function in (batches, fetch):
        with pytest.raises(TypeError, match=f"cannot decorate {function.__name__}: "):
            nanscope.watch()(function)


def test_blocks_know_nothing_of_each_other() -> None:
    training = Training()
    with pytest.raises(NonFiniteError), nanscope.watch():
        bad_step(training)
    with nanscope.watch() as w:
        training.step(torch.randn(8, 3))
    assert w.findings == [] and w.verdict == "clean"
    steps = [line for line in w.report.splitlines() if "step" in line]
    assert any("1 step" in line for line in steps), w.report


def test_what_was_bad_before_came_in_with_the_data() -> None:
    training = Training()
    bad = torch.log(torch.zeros(8, 3) - 1)  # outside of any block
    with pytest.raises(NonFiniteError) as caught, nanscope.watch():
        training.step(bad)
    assert caught.value.finding.origin.kind == "imported"


def test_nested_and_concurrent_use_get_a_sentence() -> None:
    with nanscope.watch():
        with pytest.raises(RuntimeError, match=r"already on, entered at test_watch.py:\d+"):
            nanscope.watch().__enter__()
        raised = []

        def other() -> None:
            try:
                with nanscope.watch():
                    pass
            except RuntimeError as error:
                raised.append(str(error))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert len(raised) == 1 and "one block at a time" in raised[0]
    with nanscope.watch() as w:
        pass
    assert w.verdict == "clean"


def places() -> list:
    """Everything in torch that a block stands in for or hooks."""
    from multiprocessing.reduction import ForkingPickler

    import torch._tensor_str as printing
    from torch.nn.modules import module
    from torch.optim import optimizer

    return [
        torch.autograd._engine_run_backward,
        torch.autograd.graph._engine_run_backward,
        torch.optim.Optimizer.__init__,
        torch.optim.Optimizer.zero_grad,
        vars(nn.Module)["__setstate__"],
        vars(nn.Module)["_apply"],
        "numpy" in vars(torch.Tensor),
        "tolist" in vars(torch.Tensor),
        printing._str,
        torch._C._swap_tensor_impl,
        dict(ForkingPickler._extra_reducers),
        dict(optimizer._global_optimizer_pre_hooks),
        dict(optimizer._global_optimizer_post_hooks),
        dict(module._global_parameter_registration_hooks),
        dict(module._global_buffer_registration_hooks),
        threading.excepthook,
        sys.excepthook,
        list(sys.meta_path),
    ]


def test_nothing_is_left_behind() -> None:
    before = places()
    training = Training()
    with pytest.raises(NonFiniteError), nanscope.watch(training.net):
        assert places() != before
        bad_step(training)
    assert places() == before
    from nanscope import _torch

    watched = _torch.counters()
    training.step(torch.randn(8, 3))
    assert _torch.counters() == watched, "ops after the block were looked at"
    gone = weakref.ref(training.net)
    del training
    gc.collect()
    assert gone() is None, "the block keeps the model alive"


def test_a_watch_that_is_not_entered_costs_nothing() -> None:
    code = """
import sys, torch, nanscope
block = nanscope.watch(torch.nn.Linear(2, 2))
@nanscope.watch()
def step(): pass
print("nanscope._torch" in sys.modules, "nanscope.moments.attach" in sys.modules)
print(torch.Tensor.numpy is torch._C.TensorBase.numpy)
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False", "True"], done.stderr


def test_training_is_the_same_bit_for_bit() -> None:
    def train(watched: bool) -> list[bytes]:
        training = Training()
        torch.manual_seed(1)
        if watched:
            with nanscope.watch():
                for _ in range(5):
                    training.step(torch.randn(8, 3))
        else:
            for _ in range(5):
                training.step(torch.randn(8, 3))
        return [p.detach().numpy().tobytes() for p in training.net.parameters()]

    assert train(False) == train(True)


def test_under_nanscope_run_it_is_refused(tmp_path) -> None:
    from watched import watch as run

    seen = run("import torch, nanscope\nwith nanscope.watch():\n    pass\n", tmp_path)
    assert seen.status == 1 and "watched by `nanscope run` already" in seen.err


def test_a_child_forked_while_a_thread_enters_a_block_may_watch() -> None:
    code = """
import os, sys, threading, types
import nanscope
with nanscope.watch():
    pass
entering, forked = threading.Event(), threading.Event()
class Run(types.ModuleType):
    @property
    def begun(self):
        entering.set()
        forked.wait()
        return False
def enter():
    with nanscope.watch():
        pass
sys.modules["nanscope.run.process"] = Run("run")
thread = threading.Thread(target=enter)
thread.start()
entering.wait()
pid = os.fork()
if pid == 0:
    del sys.modules["nanscope.run.process"]
    enter()
    os._exit(7)
forked.set()
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["7"], done.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"mode": "profile"}, 'exact" or "sentinel'),
        ({"on_find": "print"}, 'on_find is "raise", "report" or a function'),
        ({"model": "net"}, "model is a torch.nn.Module, not a str"),
    ],
)
def test_bad_use_gets_one_sentence(options: dict, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        nanscope.watch(**options)
