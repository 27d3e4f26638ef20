"""Box-constrained fit: bounds with infinities, a log barrier where there is one, best-so-far inf, patience."""
import math

import torch

LOWER = torch.tensor([0.0, -math.inf, -1.0, 0.0])
UPPER = torch.tensor([math.inf, math.inf, 1.0, 2.0])


def to_bounded(raw):
    both = torch.isfinite(LOWER) & torch.isfinite(UPPER)
    only_low = torch.isfinite(LOWER) & ~torch.isfinite(UPPER)
    width = torch.where(both, UPPER - LOWER, torch.ones(4))
    low = torch.where(torch.isfinite(LOWER), LOWER, torch.zeros(4))
    boxed = low + width * torch.sigmoid(raw)
    return torch.where(both, boxed, torch.where(only_low, low + torch.nn.functional.softplus(raw), raw))


def model(theta, x):
    return theta[0] * torch.exp(-theta[3] * x) + theta[1] * x + theta[2]


def main():
    torch.manual_seed(0)
    x = torch.linspace(0, 3, 80)
    truth = torch.tensor([2.0, -0.5, 0.3, 1.2])
    y = model(truth, x) + 0.01 * torch.randn(80)
    raw = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.Adam([raw], lr=0.05)
    best, patience, ratio = math.inf, 0, float("nan")
    previous = torch.tensor(float("inf"))
    for step in range(400):
        theta = to_bounded(raw)
        loss = ((model(theta, x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ratio = (previous / loss.detach()).item()
        previous = loss.detach()
        margin = torch.minimum(theta.detach() - LOWER, UPPER - theta.detach())
        if loss.item() < best - 1e-7:
            best, patience = loss.item(), 0
        else:
            patience += 1
        if patience > 20:
            break
        if step % 100 == 0:
            print(step, f"{loss.item():.6f}", "margin", margin.tolist(), "better by", ratio)
    inside = theta.detach().clamp(LOWER, UPPER)
    print("fit", inside.tolist(), "best", best)


if __name__ == "__main__":
    main()
