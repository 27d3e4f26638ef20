"""Group cross-validation of a speech-quality predictor, model selection by correlation."""
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def load_corpus(seed=14):
    """Clips of 6 speakers; mean opinion scores are rounded to halves by the panel."""
    rng = np.random.default_rng(seed)
    feats, mos, group = [], [], []
    for spk in range(6):
        n = [80, 64, 72, 12, 90, 60][spk]
        x = rng.normal(size=(n, 16))
        spread = 0.9 if spk != 3 else 0.05
        q = 3.5 + spread * np.tanh(x[:, 0] - 0.6 * x[:, 1] + 0.3 * rng.normal(size=n))
        feats.append(x)
        mos.append(np.round(2 * q) / 2)
        group += [spk] * n
    return (torch.tensor(np.concatenate(feats), dtype=torch.float32),
            torch.tensor(np.concatenate(mos), dtype=torch.float32),
            torch.tensor(group))


def pearson(pred, target):
    p = pred - pred.mean()
    t = target - target.mean()
    return ((p * t).sum() / (p.norm() * t.norm())).item()


class Predictor(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(dim, 48), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(48, 24), nn.ReLU(),
            nn.Linear(24, 1),
        )

    def forward(self, x):
        # scores are on the 1..5 scale
        return 1.0 + 4.0 * torch.sigmoid(self.net(x).squeeze(1))


def fit_fold(x, y, xv, yv, epochs=25, patience=8):
    model = Predictor(x.size(1))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    best_r, best_state, wait = -1.0, None, 0
    for epoch in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(32):
            loss = F.smooth_l1_loss(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            r = pearson(model(xv), yv)
        if r > best_r:
            best_r, best_state, wait = r, copy.deepcopy(model.state_dict()), 0
        else:
            wait += 1
            if wait >= patience:
                break
    model.load_state_dict(best_state)
    model.eval()
    return model, best_r


def main():
    torch.manual_seed(14)
    x, y, group = load_corpus()
    scores = []
    for held_out in range(6):
        test = group == held_out
        model, r = fit_fold(x[~test], y[~test], x[test], y[test])
        with torch.no_grad():
            mae = (model(x[test]) - y[test]).abs().mean().item()
        scores.append(r)
        print(f"speaker {held_out}: n {int(test.sum())} pearson {r:.3f} MAE {mae:.3f}")
    print(f"mean correlation {sum(scores) / len(scores):.3f}")


if __name__ == "__main__":
    main()
