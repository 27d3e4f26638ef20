"""Where a module stands in the user's model, and what its parameters are called."""

import gc
import sys
import threading

import pytest
import torch
from torch import nn

from nanscope.telling.modules import live_namespaces, parameter_names, path_by_address


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.Linear(2, 2)
        self.norm = nn.BatchNorm1d(2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(2, 1)
        self.hidden = [Block()]  # not registered


def path_of(modules, *namespaces):
    return path_by_address([id(module) for module in modules], *namespaces)


@pytest.fixture
def net():
    return Net()


def test_path(net):
    space = {"net": net}
    assert path_of([net], space) == "net"
    assert path_of([net, net.head], space) == "net.head"
    assert path_of([net, net.layers[1], net.layers[1].attn], space) == "net.layers.1.attn"
    assert path_of([], space) is None


def test_module_called_on_its_own(net):
    assert path_of([net.head], {"net": net}) == "net.head"
    assert path_of([net.head], {"net": net, "head": net.head}) == "head"
    assert path_of([net, net.head], {"head": net.head, "net": net}) == "net.head"


def test_wrapped(net):
    outer = nn.Sequential(net)
    space = {"net": net, "model": outer}
    assert path_of([outer, net, net.head], space) == "model.0.head"


def test_held_by_something(net):
    class Trainer:
        pass

    trainer = Trainer()
    trainer.model = net
    assert path_of([net.head], {"trainer": trainer}) == "trainer.model.head"
    assert path_of([net.head], {"nets": [Net(), net]}) == "nets[1].head"
    assert path_of([net.head], {"nets": {"g": net}}) == "nets['g'].head"
    assert path_of([net.head], {"nets": [net], "model": net}) == "model.head"


def test_not_registered(net):
    """The innermost module that has a path."""
    assert path_of([net, net.hidden[0], net.hidden[0].attn], {"net": net}) == "net"


def test_self_is_no_name(net):
    assert path_of([net, net.head], {"self": net, "_": net}) == "net.head"  # the fixture's name


def hold_and(ask):
    local_net = Net()
    return ask(local_net)


def test_local_variable():
    assert hold_and(lambda m: path_by_address([id(m), id(m.head)])).endswith(".head")
    assert hold_and(lambda _: path_by_address([id(_)])) == "local_net"


def test_local_variable_of_another_thread():
    ready, done, found = threading.Event(), threading.Event(), []

    def work():
        threaded = Net()
        found.append(id(threaded.head))
        ready.set()
        done.wait()
        return threaded

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    try:
        assert path_by_address(found) == "threaded.head"
    finally:
        done.set()
        thread.join()


def test_local_variables_are_let_go():
    def function():
        big = nn.Linear(1, 1)
        list(live_namespaces())
        known = {id(thing) for thing in gc.get_referrers(big) if isinstance(thing, dict)}
        return known

    assert not function()


def test_dictionary_that_the_program_holds_is_left():
    def function(a, b):
        mine = locals()
        list(live_namespaces())
        return mine

    assert function(1, 2).items() >= {"a": 1, "b": 2}.items()


def test_without_variable():
    class Deep:
        def __init__(self):
            self.inner = {"x": [Net()]}

    deep = Deep()
    found = deep.inner["x"][0]
    address = [id(found), id(found.head)]
    del found
    assert path_by_address(address) == "Net.head"
    del deep
    gc.collect()
    assert path_by_address(address) is None


def test_proxies_are_not_asked():
    class Liar:
        @property
        def __class__(self):
            raise RuntimeError("asked")

        def __getattr__(self, name):
            raise RuntimeError("asked")

    target = Net()
    assert path_of([target.head], {"a": Liar(), "net": target}) == "net.head"


def test_parameter_names(net):
    weight = torch.rand(3, requires_grad=True)
    names = parameter_names({"net": net, "weight": weight, "data": torch.rand(2), "n": 3})
    assert names[id(net.head.weight)] == "net.head.weight"
    assert names[net.layers[0].attn.bias.data_ptr()] == "net.layers.0.attn.bias"
    assert names[net.layers[1].norm.running_var.data_ptr()] == "net.layers.1.norm.running_var"
    assert names[weight.data_ptr()] == names[id(weight)] == "weight"
    assert not any(name.startswith("data") for name in names.values())


def test_parameters_without_memory():
    model = nn.Linear(2, 2, device="meta")
    names = parameter_names({"model": model})
    assert names[id(model.weight)] == "model.weight"
    assert 0 not in names


def test_without_torch(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch")
    assert parameter_names({"x": 1}) == {}
    assert path_of([object()], {"x": 1}) is None


def test_parameters_of_a_model_that_only_self_holds(net):
    class Trainer:
        def __init__(self):
            self.critic = net

        def step(self):
            return parameter_names({"self": self})

    assert Trainer().step()[id(net.head.weight)] == "self.critic.head.weight"


def test_parameters_seen_from_inside_the_model(net):
    assert parameter_names({"self": net})[id(net.head.weight)] == "Net.head.weight"
