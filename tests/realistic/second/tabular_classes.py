"""Wine-quality style classification from a table; numpy preprocessing, torch model."""
import csv
import io
import sys

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
np.seterr(all="ignore")

NUM_CLASSES = 7  # quality grades 0..6
FEATURES = ["acid", "sugar", "sulph", "dens", "ph", "alcohol"]


def fake_csv(n=900, seed=0):
    rng = np.random.default_rng(seed)
    buf = io.StringIO()
    w = csv.writer(buf)
    w.writerow(FEATURES + ["grade"])
    for _ in range(n):
        x = rng.normal(size=len(FEATURES))
        grade = int(np.clip(np.round(3 + 0.6 * x[0] - 0.5 * x[5] + 0.3 * rng.normal()), 1, 6))
        w.writerow([f"{v * s + m:.4f}" for v, s, m in zip(x, (1, 3, 20, 0.002, 0.2, 1.5), (7, 5, 40, 0.99, 3.2, 10))] + [grade])
    buf.seek(0)
    return buf


def load_table(fh):
    rows = list(csv.DictReader(fh))
    X = np.array([[float(r[f]) for f in FEATURES] for r in rows])
    y = np.array([int(r["grade"]) for r in rows])
    return X, y


def standardise(train, *others):
    mu, sd = train.mean(0), train.std(0)
    return [((a - mu) / sd).astype(np.float32) for a in (train, *others)]


def class_weights(y):
    counts = np.bincount(y, minlength=NUM_CLASSES)
    w = len(y) / counts
    w = w / w.sum() * NUM_CLASSES
    return torch.tensor(w, dtype=torch.float32)


def batches(X, y, size, rng):
    order = rng.permutation(len(X))
    for i in range(0, len(order), size):
        j = order[i : i + size]
        yield torch.from_numpy(X[j]), torch.from_numpy(y[j])


def accuracy(model, X, y):
    with torch.inference_mode():
        return (model(torch.from_numpy(X)).argmax(1).numpy() == y).mean()


def main():
    rng = np.random.default_rng(7)
    torch.manual_seed(7)
    X, y = load_table(fake_csv())
    idx = rng.permutation(len(X))
    tr, va = idx[:700], idx[700:]
    Xtr, Xva = standardise(X[tr], X[va])
    ytr, yva = y[tr], y[va]

    model = nn.Sequential(nn.Linear(len(FEATURES), 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, NUM_CLASSES))
    criterion = nn.CrossEntropyLoss(weight=class_weights(ytr))
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=8)

    best_acc, best_state = 0.0, None
    for epoch in range(8):
        model.train()
        losses = []
        for xb, yb in batches(Xtr, ytr, 50, rng):
            opt.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        sched.step()
        model.eval()
        acc = accuracy(model, Xva, yva)
        if acc > best_acc:
            best_acc, best_state = acc, {k: v.clone() for k, v in model.state_dict().items()}
        print(f"epoch {epoch} loss={np.mean(losses):.4f} val_acc={acc:.3f}")
    print("best", best_acc)
    return 0 if best_acc > 0.3 else 2


if __name__ == "__main__":
    sys.exit(main())
