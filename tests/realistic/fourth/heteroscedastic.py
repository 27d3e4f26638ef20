"""House prices with a learned noise level (a bare parameter)."""
import torch
import torch.nn as nn


class PriceModel(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, 1)
        self.sigma = nn.Parameter(torch.tensor(0.5))

    def forward(self, x):
        return self.linear(x).squeeze(-1), self.sigma


def gaussian_nll(mean, sigma, target):
    return (torch.log(sigma) + 0.5 * ((target - mean) / sigma) ** 2).mean()


def houses(n):
    g = torch.Generator().manual_seed(12)
    x = torch.randn(n, 8, generator=g)
    slope = torch.randn(8, generator=g)
    return x, x @ slope + 0.01 * torch.randn(n, generator=g)


def main():
    torch.manual_seed(0)
    x, y = houses(512)
    model = PriceModel(8)
    with torch.no_grad():
        model.linear.weight.copy_(torch.linalg.lstsq(x, y.unsqueeze(1)).solution.T)
        model.linear.bias.zero_()
    optimizer = torch.optim.SGD(
        [{"params": model.linear.parameters(), "lr": 1e-5}, {"params": [model.sigma]}], lr=0.1
    )
    for step in range(200):
        mean, sigma = model(x)
        loss = gaussian_nll(mean, sigma, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"{step} {loss.item():.4f} sigma {sigma.item():.4f}")


if __name__ == "__main__":
    main()
