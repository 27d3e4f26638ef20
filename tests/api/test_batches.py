"""The first bad batch, its bad samples, the first bad checkpoint; and nothing left behind."""

from __future__ import annotations

import copy
import random
import threading

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import nanscope
from nanscope.run import progress

NAN, INF = float("nan"), float("inf")


class Training:
    """A small training with everything that has to be put back: Adam, a schedule, dropout."""

    def __init__(self, rows: torch.Tensor, batch_size: int = 4, **loader) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(
            nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 1)
        )
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.9)
        self.loader = DataLoader(TensorDataset(rows, torch.ones(len(rows))), batch_size, **loader)

    def step(self, batch):
        x, y = batch
        self.optimizer.zero_grad()
        loss = (self.model(x).squeeze(-1) - y).square().mean()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        random.random(), np.random.rand()
        return loss

    def find(self, loader=None, step=None, **options) -> nanscope.BatchSearch:
        return nanscope.find_first_bad_batch(
            step or self.step,
            self.loader if loader is None else loader,
            model=self.model,
            optimizer=self.optimizer,
            scheduler=self.scheduler,
            **options,
        )

    def state(self) -> list:
        """Everything, as bytes and plain values."""
        tensors = [*self.model.parameters(), *self.model.buffers()]
        tensors += [p.grad for p in self.model.parameters() if p.grad is not None]
        entries = self.optimizer.state_dict()["state"]
        tensors += [value for entry in entries.values() for value in entry.values()]
        return [
            [tensor.detach().numpy().tobytes() for tensor in tensors],
            copy.deepcopy(self.optimizer.state_dict()["param_groups"]),
            self.scheduler.state_dict(),
            torch.get_rng_state().tolist(),
            random.getstate(),
            np.random.get_state()[1].tolist(),
        ]


def rows(bad: dict[int, float] | None = None, count: int = 24) -> torch.Tensor:
    data = torch.randn(count, 3, generator=torch.Generator().manual_seed(1))
    for index, value in (bad or {}).items():
        data[index, 1] = value
    return data


def test_the_first_bad_batch_is_named_and_all_is_put_back() -> None:
    training = Training(rows({14: INF}))
    for batch in list(training.loader)[:2]:
        training.step(batch)  # so that Adam has a state
    before = training.state()
    found = training.find()
    assert found and (found.index, found.walked) == (3, 4)
    assert found.harm.kind == "loss" and found.harm.stats.nan == 1
    assert torch.isinf(found.batch[0]).any()
    assert str(found) == (
        "batch 3: loss is not finite (1 of 1 element: 1 NaN); 3 healthy batches before it"
    )
    assert training.state() == before
    found.restore_before()
    assert training.state() != before


def test_the_walk_trains_as_the_program_would() -> None:
    walked, plain = Training(rows({14: INF})), Training(rows({14: INF}))
    found = walked.find()
    for batch in list(plain.loader)[:3]:
        plain.step(batch)
    found.restore_before()
    pairs = zip(walked.model.parameters(), plain.model.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_shuffled_loader_gives_the_same_order_again() -> None:
    generator = torch.Generator().manual_seed(5)
    training = Training(rows({3: NAN}), shuffle=True, generator=generator)
    first, second = training.find(), training.find()
    assert first.index == second.index and torch.equal(first.batch[1], second.batch[1])


@pytest.mark.parametrize("batches", [None, 4, 100])
def test_all_healthy(batches: int | None) -> None:
    training = Training(rows())
    before = training.state()
    search = training.find(batches=batches)
    assert not search and training.state() == before
    walked = 4 if batches == 4 else 6
    ending = "; the loader ended before the 100 that were asked for" if batches == 100 else ""
    assert str(search) == f"{walked} healthy batches{ending}"


def test_a_bad_gradient_and_a_bad_parameter_are_not_confused() -> None:
    training = Training(rows())

    def bad_gradient(batch):
        training.optimizer.zero_grad()
        torch.sqrt(training.model[3].weight * 0).sum().backward()
        return 1.0

    def bad_parameter(batch):
        with torch.no_grad():
            training.model[0].bias.fill_(INF)

    found = training.find(step=bad_gradient)
    assert (found.harm.kind, found.harm.name) == ("gradient", "3.weight")
    found = training.find(step=bad_parameter)
    assert (found.harm.kind, found.harm.name) == ("parameter", "0.bias")
    assert nanscope.check_weights(training.model).ok


def test_parameters_that_were_bad_before() -> None:
    training = Training(rows())
    with torch.no_grad():
        training.model[0].weight[0, 0] = NAN
    found = training.find()
    assert found.walked == 0
    assert str(found).startswith("before the first batch: the parameter 0.weight is not finite")


def test_an_exception_about_nan_is_a_finding_and_another_passes() -> None:
    training = Training(rows())
    before = training.state()

    def about_nan(batch):
        training.step(batch)
        nanscope.check(torch.tensor(NAN), "h")

    found = training.find(step=about_nan)
    assert found.harm.kind == "exception" and "h is not finite" in str(found)

    def another(batch):
        training.step(batch)
        raise KeyError("target")

    with pytest.raises(KeyError, match="target") as caught:
        training.find(step=another)
    assert caught.value.__notes__ == ["nanscope: the step raised this in batch 0; all is restored."]
    assert training.state() == before


def test_a_generator_as_loader() -> None:
    training = Training(rows({14: INF}))
    used = (batch for batch in list(training.loader))
    assert training.find(loader=used).index == 3
    assert len(list(used)) == 2, "it was read no further than needed"
    with pytest.raises(ValueError, match="the loader gave no batch"):
        training.find(loader=used)


@pytest.mark.parametrize(
    ("use", "sentence"),
    [
        (lambda t: t.find(loader=7), "loader is something to iterate over, not an int"),
        (lambda t: t.find(loader="train"), "not a str"),
        (lambda t: t.find(loader=[]), "the loader gave no batch"),
        (lambda t: t.find(step=3), "step is a function of a batch"),
        (lambda t: nanscope.find_first_bad_batch(t.step, t.loader), "needs model= or optimizer="),
        (lambda t: nanscope.bisect_samples(t.find()), "no bad batch to narrow"),
        (lambda t: t.find().restore_before(), "no bad batch to go back to"),
        (lambda t: nanscope.bisect_samples(torch.ones(2)), "or a batch and step"),
    ],
)
def test_bad_use_gets_one_sentence(use, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence) as caught:
        use(Training(rows()))
    assert "\n" not in str(caught.value)


def test_progress_bar(capsys: pytest.CaptureFixture) -> None:
    Training(rows()).find()
    assert capsys.readouterr().err == "", "no terminal, no bar"
    Training(rows()).find(progress=True)
    drawn = capsys.readouterr().err
    assert drawn.endswith("[##############################] 6/6 batches\n")


# ------------------------------------------------------------------------------------ samples
def test_the_one_bad_sample() -> None:
    training = Training(rows({13: INF}), batch_size=8)
    found = training.find()
    before = training.state()
    narrowed = nanscope.bisect_samples(found)
    # BatchNorm takes no single sample: two are the fewest that fail.
    assert 13 - 8 in narrowed.samples and len(narrowed.samples) == 2
    assert narrowed.blame == "batch" and narrowed.batch[0].shape == (2, 3)
    assert training.state() == before
    assert "the batch alone is to blame" in str(narrowed)


def linear_step(model: nn.Module, optimizer: torch.optim.Optimizer):
    def step(batch):
        optimizer.zero_grad()
        loss = model(batch["x"]).sum() * batch["scale"]
        loss.backward()
        optimizer.step()
        return {"loss": loss}

    return step


def test_samples_that_fail_only_together() -> None:
    model = nn.Linear(1, 1, bias=False)
    nn.init.ones_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    x = torch.ones(40, 1)
    x[[7, 31]] = 3e38  # each fits, their sum does not
    batch = {"x": x, "scale": 1.0, "ids": [str(i) for i in range(40)]}
    narrowed = nanscope.bisect_samples(
        batch, linear_step(model, optimizer), model=model, optimizer=optimizer
    )
    assert narrowed.samples == (7, 31) and narrowed.batch["ids"] == ["7", "31"]
    assert narrowed.blame == "unknown" and narrowed.harm.kind == "loss"
    assert narrowed.tried < 60


def test_the_state_is_to_blame() -> None:
    model = nn.Linear(1, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e30)
    nn.init.ones_(model.weight)
    batches = [{"x": torch.full((4, 1), 10.0 + i), "scale": 1.0} for i in range(9)]

    def step(batch):
        optimizer.zero_grad()
        loss = model(batch["x"]).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    found = nanscope.find_first_bad_batch(step, batches, model=model, optimizer=optimizer)
    assert found.index == 1
    narrowed = nanscope.bisect_samples(found)
    assert narrowed.blame == "state" and len(narrowed.samples) == 1


def test_a_batch_that_does_not_fail_again() -> None:
    training = Training(rows())
    calls = []

    def step(batch):
        calls.append(batch)
        return NAN if len(calls) == 2 else 1.0

    found = training.find(step=step)
    with pytest.raises(ValueError, match="does not fail again"):
        nanscope.bisect_samples(found)


# -------------------------------------------------------------------------------- checkpoints
@pytest.mark.parametrize("first_bad", [1, 2, 37, 63])
def test_first_bad_interval_in_log_time(first_bad: int) -> None:
    looked = []

    def step(path: str):
        looked.append(path)
        return torch.tensor(NAN if int(path) >= first_bad else 1.0)

    found = nanscope.bisect_checkpoints([str(i) for i in range(64)], step)
    assert (found.good, found.bad) == (str(first_bad - 1), str(first_bad))
    assert found.tried == len(looked) <= 8
    assert "loss is not finite" in found.why and "between" in str(found)


def test_files_are_looked_into_without_a_step(tmp_path) -> None:
    paths = []
    for i in range(5):
        weights = {"model": {"w": torch.ones(3)}, "step": i}
        if i >= 3:
            weights["model"]["w"][1] = INF
        paths.append(tmp_path / f"step{i}.pt")
        torch.save(weights, paths[-1])
    found = nanscope.bisect_checkpoints(paths)
    assert (found.good, found.bad) == (paths[2], paths[3])
    assert found.why == "checkpoint['model']['w'] is not finite (1 of 3 elements: 1 +Inf)"
    assert "healthy to the last" in str(nanscope.bisect_checkpoints(paths[:3]))
    assert "is bad already" in str(nanscope.bisect_checkpoints(paths[3:]))


@pytest.mark.parametrize(
    ("paths", "sentence"), [([], "paths is empty"), ("last.pt", "paths is a list of checkpoints")]
)
def test_bad_paths_get_one_sentence(paths, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        nanscope.bisect_checkpoints(paths, lambda path: 1.0)


def test_a_step_over_checkpoints_that_raises_for_another_reason() -> None:
    with pytest.raises(FileNotFoundError) as caught:
        nanscope.bisect_checkpoints(["missing.pt"])
    assert caught.value.__notes__ == ["nanscope: raised while trying missing.pt."]


def test_a_terminal_sees_what_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def step(path: str) -> float:
        seen.append("nanscope-seconds" in {thread.name for thread in threading.enumerate()})
        return 1.0

    monkeypatch.setattr(progress, "is_terminal", lambda: True)
    nanscope.bisect_checkpoints(["a.pt", "b.pt"], step)
    assert seen and all(seen)
