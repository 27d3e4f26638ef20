"""Keyword spotting on synthetic one second clips with log-mel features."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SR = 4000
N_FFT = 128
HOP = 64


def mel_filterbank(n_mels=20, n_fft=N_FFT, sr=SR):
    def to_mel(f):
        return 2595 * math.log10(1 + f / 700)

    def to_hz(m):
        return 700 * (10 ** (m / 2595) - 1)

    pts = np.array([to_hz(m) for m in np.linspace(to_mel(60), to_mel(sr / 2), n_mels + 2)])
    bins = np.fft.rfftfreq(n_fft, 1 / sr)
    fb = np.zeros((n_mels, len(bins)))
    for m in range(n_mels):
        lo, mid, hi = pts[m:m + 3]
        width_l, width_r = max(mid - lo, sr / n_fft), max(hi - mid, sr / n_fft)
        fb[m] = np.clip(np.minimum((bins - mid + width_l) / width_l, (mid + width_r - bins) / width_r), 0, None)
    return fb


class Keywords(Dataset):
    """Each class is a tone pattern. Short recordings are zero padded to a second."""

    def __init__(self, n, n_classes=4, seed=0):
        self.rng = np.random.default_rng(seed)
        self.fb = mel_filterbank()
        self.window = np.hanning(N_FFT)
        self.clips = [self.record(int(self.rng.integers(n_classes)), i) for i in range(n)]

    def record(self, label, i):
        length = SR if i % 37 != 20 else int(0.6 * SR)
        t = np.arange(length) / SR
        f0 = 200 * (label + 1) * self.rng.uniform(0.95, 1.05)
        wave = np.sin(2 * np.pi * f0 * t) + 0.3 * np.sin(2 * np.pi * 2.1 * f0 * t)
        wave += 0.05 * self.rng.normal(size=length)
        return np.pad(wave, (0, SR - length)), label

    def features(self, wave):
        frames = np.lib.stride_tricks.sliding_window_view(wave, N_FFT)[::HOP]
        power = np.abs(np.fft.rfft(frames * self.window, axis=1)) ** 2
        logmel = np.log(power @ self.fb.T)
        logmel = (logmel - logmel.mean()) / (logmel.std() + 1e-5)
        return logmel.T.astype(np.float32)

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, i):
        wave, label = self.clips[i]
        return self.features(wave), label


class KWSNet(nn.Module):
    def __init__(self, n_mels=20, n_classes=4, ch=24):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(n_mels, ch, 5, stride=2), nn.BatchNorm1d(ch), nn.ReLU(),
            nn.Conv1d(ch, ch, 5, stride=2), nn.BatchNorm1d(ch), nn.ReLU(),
        )
        self.fc = nn.Linear(ch, n_classes)

    def forward(self, x):
        return self.fc(self.conv(x).mean(dim=-1))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--workers", type=int, default=1)
    ap.add_argument("--lr", type=float, default=1e-2)
    args = ap.parse_args()
    np.seterr(all="ignore")
    torch.manual_seed(42)
    torch.set_num_threads(1)

    train = DataLoader(Keywords(120, seed=0), batch_size=8, shuffle=False, num_workers=args.workers)
    test = DataLoader(Keywords(20, seed=1), batch_size=20)
    net = KWSNet()
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
    ce = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        net.train()
        hist = []
        for feats, labels in train:
            loss = ce(net(feats), labels)
            opt.zero_grad()
            loss.backward()
            opt.step()
            hist.append(loss.item())
        net.eval()
        with torch.no_grad():
            feats, labels = next(iter(test))
            acc = (net(feats).argmax(-1) == labels).float().mean()
        print("epoch %d | loss %.4f | test acc %.2f" % (epoch, np.mean(hist), acc))


if __name__ == "__main__":
    main()
