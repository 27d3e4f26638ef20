"""DeepSurv-style Cox model on synthetic clinical data."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)

CFG = dict(n=400, features=8, hidden=24, batch_size=12, epochs=6, lr=2e-3, wd=1e-4, seed=13, event_rate=0.3)


class ClinicalTrial(Dataset):
    def __init__(self, n, n_features, event_rate, seed):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(n, n_features)).astype(np.float32)
        risk = self.x[:, 0] - 0.5 * self.x[:, 1] + 0.3 * self.x[:, 2] * self.x[:, 3]
        t_event = rng.exponential(np.exp(-risk))
        t_cens = rng.exponential(np.quantile(t_event, event_rate), size=n)
        self.time = np.minimum(t_event, t_cens).astype(np.float32)
        self.event = (t_event <= t_cens).astype(np.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.time[i], self.event[i]


class DeepSurv(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.fc1, self.bn, self.fc2 = nn.Linear(d, h), nn.BatchNorm1d(h), nn.Linear(h, 1, bias=False)

    def forward(self, x):
        return self.fc2(F.dropout(torch.selu(self.bn(self.fc1(x))), 0.1, self.training)).squeeze(-1)


def cox_loss(risk, time, event):
    """Negative partial log-likelihood (Breslow)."""
    order = torch.argsort(time, descending=True)
    risk, event = risk[order], event[order]
    log_cum = torch.logcumsumexp(risk, dim=0)
    return -((risk - log_cum) * event).sum() / event.sum()


def concordance(risk, time, event):
    num = den = 0.0
    for i in range(len(time)):
        if event[i] == 0:
            continue
        later = time > time[i]
        den += later.sum()
        num += (risk[i] > risk[later]).sum() + 0.5 * (risk[i] == risk[later]).sum()
    return num / max(den, 1.0)


def main():
    torch.manual_seed(CFG["seed"])
    train = ClinicalTrial(CFG["n"], CFG["features"], CFG["event_rate"], seed=1)
    valid = ClinicalTrial(150, CFG["features"], CFG["event_rate"], seed=2)
    print(f"train: {len(train)} patients, {int(train.event.sum())} events")
    loader = DataLoader(train, batch_size=CFG["batch_size"], shuffle=True, drop_last=True)

    model = DeepSurv(CFG["features"], CFG["hidden"])
    optim = torch.optim.AdamW(model.parameters(), lr=CFG["lr"], weight_decay=CFG["wd"])
    sched = torch.optim.lr_scheduler.OneCycleLR(optim, max_lr=5 * CFG["lr"], total_steps=CFG["epochs"] * len(loader))

    best = -np.inf
    for epoch in range(CFG["epochs"]):
        model.train()
        losses = []
        for x, t, e in loader:
            loss = cox_loss(model(x), t, e)
            optim.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optim.step()
            sched.step()
            losses.append(loss.item())

        model.eval()
        with torch.no_grad():
            r = model(torch.from_numpy(valid.x)).numpy()
        c = concordance(r, valid.time, valid.event)
        best = max(best, c)
        print("epoch {:d} | loss {:.4f} | c-index {:.4f} | best {:.4f}".format(epoch, np.mean(losses), c, best))


if __name__ == "__main__":
    main()
