"""Trains with masks, mixed precision and skipped steps, and writes the bits of the weights."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
model = DistributedDataParallel(nn.Sequential(layer, nn.Linear(16, 4)))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=4)
torch.manual_seed(rank)
for _ in range(12):
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(torch.randn(4, 6, 16)).square().mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
torch.save([p.detach() for p in model.parameters()], os.path.join(os.getcwd(), f"weights.{rank}"))
dist.destroy_process_group()
