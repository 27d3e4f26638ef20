"""Recommends sets of films: relevance plus a determinantal term that rewards variety."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Catalogue:
    def __init__(self, films, users, dim, seed):
        g = torch.Generator().manual_seed(seed)
        self.feature = torch.randn(films, dim, generator=g)
        self.taste = torch.randn(users, dim, generator=g)
        self.weights = torch.softmax(self.taste @ self.feature.T / 2, dim=1)
        self.g = g

    def slates(self, users, size):
        """What each of these users clicked on, drawn by taste."""
        return torch.multinomial(self.weights[users], size, replacement=True, generator=self.g)


class Recommender(nn.Module):
    def __init__(self, films, users, dim=16):
        super().__init__()
        self.film = nn.Embedding(films, dim)
        self.user = nn.Embedding(users, dim)

    def quality(self, users, slate):
        return (self.user(users)[:, None] * self.film(slate)).sum(-1)

    def similarity(self, slate):
        z = F.normalize(self.film(slate), dim=-1)
        return z @ z.transpose(-1, -2)


def slate_loss(model, users, slate, negatives, strength):
    positive = model.quality(users, slate)
    negative = model.quality(users, negatives)
    ranking = -F.logsigmoid(positive - negative).mean()
    kernel = model.similarity(slate)
    variety = torch.logdet(kernel)
    return ranking - strength * variety.mean(), variety


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--films", type=int, default=400)
    ap.add_argument("--users", type=int, default=120)
    ap.add_argument("--slate", type=int, default=4)
    ap.add_argument("--strength", type=float, default=0.05)
    ap.add_argument("--steps", type=int, default=150)
    args = ap.parse_args()
    torch.manual_seed(6)
    torch.set_num_threads(1)
    catalogue = Catalogue(args.films, args.users, 8, seed=9)
    model = Recommender(args.films, args.users)
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(args.steps):
        users = torch.randint(0, args.users, (2,))
        slate = catalogue.slates(users, args.slate)
        negatives = torch.randint(0, args.films, slate.shape)
        loss, variety = slate_loss(model, users, slate, negatives, args.strength)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"step {step:3d} loss {loss.item():.4f} variety {variety.mean().item():.3f}")


if __name__ == "__main__":
    main()
