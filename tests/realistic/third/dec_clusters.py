"""Deep embedded clustering: sharpens soft assignments towards their own target."""
import torch
import torch.nn as nn
import torch.nn.functional as F

N_CLUSTERS = 6
TEMPERATURE = 0.02


def blobs(n=400, seed=14):
    g = torch.Generator().manual_seed(seed)
    centre = torch.randn(4, 10, generator=g) * 3
    which = torch.randint(0, 4, (n,), generator=g)
    return centre[which] + torch.randn(n, 10, generator=g)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
        self.up = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 10))
        self.centres = nn.Parameter(torch.randn(N_CLUSTERS, 4) * 3)

    def assign(self, z):
        d2 = (z[:, None] - self.centres).square().sum(-1)
        return F.softmax(-d2 / TEMPERATURE, dim=1)

    def forward(self, x):
        z = self.down(x)
        return self.assign(z), self.up(z)


def target_distribution(q):
    weight = q ** 2 / q.sum(0)
    return (weight.T / weight.sum(1)).T


def cluster_loss(q):
    p = target_distribution(q.detach())
    return (p * torch.log(p / q)).sum(1).mean()


def train(model, x, epochs, pretrain):
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        parts = torch.randperm(len(x)).split(50)
        for part in parts:
            q, back = model(x[part])
            loss = F.mse_loss(back, x[part])
            if epoch >= pretrain:
                loss = loss + 0.1 * cluster_loss(q)
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            sizes = torch.bincount(model(x)[0].argmax(1), minlength=N_CLUSTERS).tolist()
        print(f"epoch {epoch:2d} loss {loss.item():.4f} sizes {sizes}")


def main():
    torch.manual_seed(10)
    torch.set_num_threads(1)
    train(Encoder(), blobs(), epochs=14, pretrain=6)


if __name__ == "__main__":
    main()
