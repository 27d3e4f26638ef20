# two threads train, each its own compiled model
# expect: error
# line: 20
# op: aten::log
# phase: forward
# cause: log_of_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

import threading
def train(zero):
    w = torch.ones(4, requires_grad=True)
    @torch.compile
    def f(x):
        return torch.log(x * w).sum()
    for _ in range(2):
        step(f(torch.zeros(4) if zero else torch.ones(4)), w)
threads = [threading.Thread(target=train, args=(zero,)) for zero in (False, True)]
for thread in threads:
    thread.start()
    thread.join()
