"""Original and patched expression side by side: what counts as the same."""

from __future__ import annotations

import torch
import torch.utils.checkpoint

from nanscope.fix.run.probe import NEARLY, Place, Probe


def seen(original, patched, *values, widens: bool = False) -> Place:
    probe = Probe(widens, False)
    probe.compare(0, original, patched, patched, *values)
    return probe.place(0)


def by_hand(x):
    return torch.log(1 - torch.sigmoid(x))


def in_one(x):
    return torch.nn.functional.logsigmoid(-x)


def test_digits_that_the_original_had_lost_are_no_change():
    place = seen(by_hand, in_one, torch.tensor([0.5, 14.0, 60.0]))
    assert place.met == 1 and place.still_bad == 0
    assert place.regained == 1 and place.lost_by_rounding > NEARLY
    assert place.largest_difference <= NEARLY


def test_another_function_is_a_change():
    place = seen(by_hand, lambda x: in_one(x) * 1.01, torch.tensor([0.5, 14.0, 60.0]))
    assert place.regained == 0
    assert place.largest_difference > NEARLY


def test_a_wider_type_is_compared_in_the_narrow_one():
    values = torch.tensor([[1.1, 300.0], [2.3, 7.7]], dtype=torch.float16)
    place = seen(lambda x: x * x, lambda x: x.float() * x.float(), values, widens=True)
    assert place.met == 1 and place.mismatch == ""
    assert place.identical and place.last_digit == torch.finfo(torch.float16).eps
    narrow = seen(lambda x: x * x, lambda x: x.float() * x.float(), values)
    assert narrow.mismatch == "the dtype torch.float16 became torch.float32"


def test_an_op_with_several_results():
    def apart(a):
        return torch.linalg.eigh(a + torch.eye(3) * torch.linspace(0.0, 1e-6, 3))

    equal = torch.eye(3).requires_grad_()
    assert seen(torch.linalg.eigh, apart, equal).met == 1
    place = seen(torch.linalg.eigh, apart, torch.diag(torch.tensor([1.0, 2.0, 4.0])))
    assert place.met == 0 and place.compared == 1
    assert 0 < place.largest_difference <= NEARLY


def test_inside_a_checkpoint():
    """It keeps no tensors for the backward, and counts those that it is asked to keep."""
    place = Place()

    def layer(x):
        probe = Probe(False, False)
        probe.places[0] = place
        root, norm = (lambda v: v.square().sum().sqrt()), torch.linalg.vector_norm
        return probe.compare(0, root, norm, norm, x)

    point = torch.zeros(3, requires_grad=True)
    torch.utils.checkpoint.checkpoint(layer, point, use_reentrant=False).backward()
    assert place.fault == "" and place.met == place.compared == 2
    assert point.grad.tolist() == [0.0, 0.0, 0.0]


def test_a_healthy_zero_that_is_only_rounding():
    """One value: there are no others whose size could be a measure."""

    def by_squares(x):
        return (x.square().mean() - x.mean().square()).sqrt()

    x = torch.tensor([1060.0, 1060.0039, 1060.0, 1060.0039])
    assert float(by_squares(x)) == 0.0 and float(by_squares(x.double())) > 0.0
    place = seen(by_squares, lambda x: x.std(correction=0), x)
    assert place.largest_difference <= NEARLY and place.regained == 1
    place = seen(by_squares, lambda x: x.std(correction=0) + 1.0, x)
    assert place.largest_difference > NEARLY
