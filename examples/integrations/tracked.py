"""A training that logs to a tracker; `nanscope run --notify wandb tracked.py wandb` tells it, too.

    nanscope run --notify tensorboard:runs/nan tracked.py
    nanscope run --notify mlflow tracked.py mlflow
    nanscope run --notify wandb tracked.py wandb
    nanscope run --notify trackio tracked.py trackio
"""

import sys
from contextlib import nullcontext

import torch

tracker = sys.argv[1] if len(sys.argv) > 1 else ""
if tracker == "mlflow":
    import mlflow

    run, log = mlflow.start_run(), mlflow.log_metric
elif tracker == "wandb":
    import wandb

    run = wandb.init(project="example")
    log = lambda name, value: wandb.log({name: value})  # noqa: E731
elif tracker == "trackio":
    import trackio

    run = trackio.init(project="example")
    log = lambda name, value: trackio.log({name: value})  # noqa: E731
else:
    run, log = nullcontext(), print

with run if hasattr(run, "__exit__") else nullcontext():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
    x = torch.randn(64, 8)
    y = (x[:, :1] > 0).float()
    for step in range(400):
        p = torch.sigmoid(20 * model(x))
        loss = -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            log("loss", loss.item())
