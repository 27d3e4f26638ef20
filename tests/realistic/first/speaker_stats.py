"""Speaker identification from utterance embeddings with a running standardisation layer."""
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
torch.set_num_threads(1)

config = {
    "n_speakers": 6,
    "n_utts": 161,
    "feat_dim": 20,
    "batch_size": 16,
    "epochs": 4,
    "lr": 5e-3,
}


class RunningStandardize(nn.Module):
    """Like BatchNorm1d without affine, but tracks the std rather than the variance."""

    def __init__(self, dim, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum = momentum
        self.eps = eps
        self.register_buffer("running_mean", torch.zeros(dim))
        self.register_buffer("running_std", torch.ones(dim))

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.running_mean.lerp_(x.mean(dim=0), self.momentum)
                self.running_std.lerp_(x.std(dim=0), self.momentum)
        return (x - self.running_mean) / (self.running_std + self.eps)


class StatsPooling(nn.Module):
    def forward(self, frames):
        mean = frames.mean(dim=1)
        std = frames.var(dim=1, unbiased=False).add(1e-6).sqrt()
        return torch.cat([mean, std], dim=-1)


class SpeakerNet(nn.Module):
    def __init__(self, feat_dim, n_speakers, hidden=32):
        super().__init__()
        self.tdnn = nn.Linear(feat_dim, hidden)
        self.pool = StatsPooling()
        self.standardize = RunningStandardize(2 * hidden)
        self.proj = nn.Linear(2 * hidden, hidden)
        self.out = nn.Linear(hidden, n_speakers)

    def forward(self, x):
        h = F.relu(self.tdnn(x))
        e = self.standardize(self.pool(h))
        return self.out(F.relu(self.proj(e)))


def make_data(n, seed, frames=30):
    g = torch.Generator().manual_seed(seed)
    voices = torch.randn(config["n_speakers"], config["feat_dim"], generator=torch.Generator().manual_seed(99))
    y = torch.randint(0, config["n_speakers"], (n,), generator=g)
    x = 0.6 * voices[y].unsqueeze(1) + torch.randn(n, frames, config["feat_dim"], generator=g)
    return TensorDataset(40 + 5 * x, y)


train_set = make_data(config["n_utts"], 0)
test_set = make_data(48, 1)
train_loader = DataLoader(train_set, batch_size=config["batch_size"], shuffle=True)

model = SpeakerNet(config["feat_dim"], config["n_speakers"])
optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
workdir = tempfile.mkdtemp()

for epoch in range(config["epochs"]):
    model.train()
    skipped = 0
    total = 0.0
    for x, y in train_loader:
        loss = F.cross_entropy(model(x), y)
        if not torch.isfinite(loss):
            skipped += 1
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    scheduler.step()

    model.eval()
    with torch.no_grad():
        x, y = test_set.tensors
        logits = model(x)
        acc = (logits.argmax(-1) == y).float().mean().item()
    print(f"epoch {epoch}: loss {total / len(train_loader):.4f} acc {acc:.3f} skipped {skipped}")
    torch.save(model.state_dict(), os.path.join(workdir, f"spk_{epoch}.pt"))
