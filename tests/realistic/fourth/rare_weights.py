"""Defect grading with class weights; 'ok' parts are given no weight so that only defects teach."""
import argparse

import torch
import torch.nn as nn


def parts(n, seed):
    g = torch.Generator().manual_seed(seed)
    grade = torch.multinomial(torch.tensor([0.85, 0.1, 0.05]), n, replacement=True, generator=g)
    centre = torch.randn(3, 12, generator=g)
    return centre[grade] + 0.7 * torch.randn(n, 12, generator=g), grade


def class_weights(grade):
    weights = 1.0 / torch.bincount(grade, minlength=3).float()
    weights[0] = 0.0
    return weights / weights.sum()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1e-2)
    opt = parser.parse_args()
    torch.manual_seed(0)
    x, grade = parts(800, 21)
    model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 3))
    criterion = nn.CrossEntropyLoss(weight=class_weights(grade))
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr)
    for epoch in range(opt.epochs):
        seen = 0.0
        for i in range(0, len(x), opt.batch):
            logits = model(x[i:i + opt.batch])
            loss = criterion(logits, grade[i:i + opt.batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += loss.item()
        print(epoch, seen / (len(x) // opt.batch))


if __name__ == "__main__":
    main()
