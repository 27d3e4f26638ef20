"""Quantised speech units whose codebook directions are kept orthogonal by a QR in the forward."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def make_frames(n, width, generator):
    phones = torch.randn(6, width, generator=generator)
    labels = torch.randint(0, 6, (n,), generator=generator)
    return phones[labels] + 0.2 * torch.randn(n, width, generator=generator), labels


class OrthogonalCodebook(nn.Module):
    def __init__(self, width, codes):
        super().__init__()
        start = torch.randn(width, codes)
        start[:, -1] = 0.0
        self.raw = nn.Parameter(start)

    def basis(self):
        q, _ = torch.linalg.qr(self.raw)
        return q

    def forward(self, x):
        q = self.basis()
        return x @ q, q


class UnitClassifier(nn.Module):
    def __init__(self, width, codes, classes):
        super().__init__()
        self.codebook = OrthogonalCodebook(width, codes)
        self.head = nn.Sequential(nn.Linear(codes, 32), nn.GELU(), nn.Linear(32, classes))

    def forward(self, x):
        coefficients, _ = self.codebook(x)
        return self.head(coefficients)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=24)
    parser.add_argument("--codes", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()

    torch.manual_seed(5)
    g = torch.Generator().manual_seed(11)
    frames, labels = make_frames(640, args.width, g)
    model = UnitClassifier(args.width, args.codes, 6)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(args.epochs):
        total = 0.0
        for i in range(0, len(frames), 64):
            logits = model(frames[i:i + 64])
            loss = F.cross_entropy(logits, labels[i:i + 64])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / 10:.4f}")


if __name__ == "__main__":
    main()
