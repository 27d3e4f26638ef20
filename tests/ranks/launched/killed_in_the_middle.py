"""One rank is killed while all is finite, the others wait for it in an all-reduce."""

import os
import signal

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
for step in range(4):
    if dist.get_rank() == 1 and step == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(torch.ones(4))
