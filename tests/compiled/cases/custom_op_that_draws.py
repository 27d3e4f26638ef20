# Zeros are divided by what a custom op drew, which nobody knows that it draws
# expect: error
# phase: forward
# op: aten::div
# line: 21
# cause: division_by_zero
import torch


@torch.library.custom_op("nanscope_tests::noisy", mutates_args=())
def noisy(x: torch.Tensor) -> torch.Tensor:
    return x * (torch.rand(4) > 2)


noisy.register_fake(torch.empty_like)


@torch.compile
def loss_of(x):
    noise = noisy(x.detach())
    return (x / noise).sum()


torch.manual_seed(0)
torch.rand(4)
state = torch.get_rng_state()
torch.manual_seed(0)
loss = loss_of(torch.ones(4, requires_grad=True))
assert torch.equal(torch.get_rng_state(), state)
loss.backward()
