import argparse
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def make_shapes(n, seed):
    """squares vs crosses, 3x16x16"""
    g = torch.Generator().manual_seed(seed)
    x = 0.2 * torch.randn(n, 3, 16, 16, generator=g)
    y = torch.randint(0, 2, (n,), generator=g)
    for i in range(n):
        r, c = torch.randint(2, 8, (2,), generator=g).tolist()
        if y[i] == 0:
            x[i, :, r:r + 6, c:c + 6] += 1
        else:
            x[i, :, r + 2:r + 4, c:c + 6] += 1
            x[i, :, r:r + 6, c + 2:c + 4] += 1
    return TensorDataset(x, y)


class PlainVGG(nn.Module):
    cfg = [16, 16, "M", 32, 32, "M", 32, 32]

    def __init__(self, classes=2):
        super().__init__()
        layers, c_in = [], 3
        for v in self.cfg:
            if v == "M":
                layers.append(nn.MaxPool2d(2))
            else:
                layers += [nn.Conv2d(c_in, v, 3, padding=1), nn.ReLU(inplace=True)]
                c_in = v
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(c_in, classes)
        self.apply(self._init)

    @staticmethod
    def _init(m):
        if isinstance(m, nn.Conv2d):
            nn.init.normal_(m.weight)
            nn.init.zeros_(m.bias)
        elif isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=0.01)
            nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.classifier(self.features(x).mean(dim=(2, 3)))


class AverageMeter:
    def __init__(self):
        self.sum, self.n = 0.0, 0

    def update(self, v, n=1):
        self.sum += v * n
        self.n += n

    @property
    def avg(self):
        return self.sum / max(self.n, 1)


def train_epoch(model, loader, optimizer, scaler, args):
    meter = AverageMeter()
    model.train()
    for x, y in loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.float16, enabled=args.amp):
            logits = model(x)
            loss = nn.functional.cross_entropy(logits.float(), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        scaler.step(optimizer)
        scaler.update()
        meter.update(loss.item(), len(y))
    return meter.avg


@torch.inference_mode()
def evaluate(model, loader, args):
    model.eval()
    hits = 0
    for x, y in loader:
        with torch.autocast("cpu", dtype=torch.float16, enabled=args.amp):
            hits += (model(x).argmax(1) == y).sum().item()
    return hits / len(loader.dataset)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--lr", type=float, default=0.02)
    ap.add_argument("--clip", type=float, default=1.0)
    ap.add_argument("--no-amp", dest="amp", action="store_false")
    args = ap.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train = DataLoader(make_shapes(64, 0), batch_size=16, shuffle=True)
    val = DataLoader(make_shapes(32, 1), batch_size=32)
    model = PlainVGG()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
    scaler = torch.amp.GradScaler("cpu", enabled=args.amp, init_scale=1024.0)
    for epoch in range(args.epochs):
        t0 = time.time()
        loss = train_epoch(model, train, optimizer, scaler, args)
        acc = evaluate(model, val, args)
        print(f"epoch {epoch}: loss {loss:.4f} val acc {acc:.3f} scale {scaler.get_scale():.3g} ({time.time() - t0:.1f}s)")


if __name__ == "__main__":
    main()
