"""Multi-task toxicity: most labels are missing (NaN) and are left out by a mask; some tasks are empty."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def table(n, tasks, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 10)).astype(np.float32)
    y = (x[:, :tasks] > 0).astype(np.float32)
    y[rng.random(y.shape) < 0.6] = np.nan
    y[:, -1] = np.nan
    return torch.from_numpy(x), torch.from_numpy(y)


def masked_bce(logits, labels):
    known = ~torch.isnan(labels)
    filled = torch.where(known, labels, torch.zeros_like(labels))
    loss = F.binary_cross_entropy_with_logits(logits, filled, reduction="none")
    return (loss * known).sum() / known.sum().clamp(min=1)


def accuracies(logits, labels):
    known = ~torch.isnan(labels)
    hit = ((logits > 0) == (labels > 0.5)) & known
    return hit.sum(0).float() / known.sum(0).float()


def main():
    torch.manual_seed(0)
    x, y = table(400, 4, 3)
    net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    history = []
    for epoch in range(5):
        for i in range(0, 400, 40):
            loss = masked_bce(net(x[i:i + 40]), y[i:i + 40])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            per_task = accuracies(net(x), y)
        history.append(per_task)
        shown = ["n/a" if math.isnan(a) else f"{a:.2f}" for a in per_task.tolist()]
        print(f"epoch {epoch} loss {loss.item():.4f} per task {shown} mean {per_task.nanmean():.3f}")
    print("best per task:", torch.stack(history).nan_to_num(-1).max(0).values.tolist())


if __name__ == "__main__":
    main()
