# bf16 autocast training of a small click model with a stable loss
# expect: silence
import argparse

import torch
from torch import nn


class ClickModel(nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(-1)


def bce(logits, labels):
    return nn.functional.binary_cross_entropy_with_logits(logits.float(), labels)


def make_batch(batch_size, features, generator):
    x = torch.randn(batch_size, features, generator=generator)
    y = (x[:, :4].sum(-1) > 0).float()
    return x, y


def train(args):
    model = ClickModel(args.features, args.width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    generator = torch.Generator().manual_seed(args.seed)
    for step in range(args.steps):
        x, y = make_batch(args.batch_size, args.features, generator)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
            loss = bce(logits, y)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--features", type=int, default=8)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train(args)


if __name__ == "__main__":
    main()
