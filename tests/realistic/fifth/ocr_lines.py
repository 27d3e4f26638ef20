"""Line recogniser: convolutional encoder + CTC on synthetic text strips."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

ALPHABET = "abcdefghij"
BLANK = 0


@dataclass
class Settings:
    samples: int = 640
    batch: int = 16
    epochs: int = 4
    lr: float = 2e-3
    height: int = 8
    seed: int = 13


class Strips(Dataset):
    """Each letter is a fixed 8x6 glyph; strips have a random pitch between glyphs."""

    def __init__(self, cfg):
        rng = np.random.default_rng(cfg.seed)
        glyphs = (rng.random((len(ALPHABET), cfg.height, 6)) > 0.5).astype(np.float32)
        self.items = []
        for _ in range(cfg.samples):
            n = rng.integers(3, 9)
            word = rng.integers(0, len(ALPHABET), size=n)
            pitch = rng.integers(4, 9)
            img = np.zeros((cfg.height, int(pitch * n) + 4), dtype=np.float32)
            for k, c in enumerate(word):
                s = int(k * pitch)
                w = min(6, img.shape[1] - s)
                img[:, s:s + w] = np.maximum(img[:, s:s + w], glyphs[c][:, :w])
            img += 0.1 * rng.normal(size=img.shape).astype(np.float32)
            self.items.append((torch.from_numpy(img), torch.from_numpy(word + 1)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    widths = torch.tensor([im.shape[1] for im, _ in batch])
    lengths = torch.tensor([len(w) for _, w in batch])
    h = batch[0][0].shape[0]
    canvas = torch.zeros(len(batch), 1, h, int(widths.max()))
    for i, (im, _) in enumerate(batch):
        canvas[i, 0, :, : im.shape[1]] = im
    return canvas, widths, torch.cat([w for _, w in batch]), lengths


class Recogniser(nn.Module):
    stride = 4

    def __init__(self, height, classes, ch=32):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, ch, 3, stride=(2, 2), padding=1), nn.ReLU(),
            nn.Conv2d(ch, ch, 3, stride=(2, 2), padding=1), nn.ReLU(),
        )
        self.rnn = nn.GRU(ch * height // 4, 48, bidirectional=True, batch_first=True)
        self.head = nn.Linear(96, classes)

    def forward(self, x):
        f = self.conv(x).flatten(1, 2).transpose(1, 2)
        h, _ = self.rnn(f)
        return self.head(h).log_softmax(-1).transpose(0, 1)


def greedy(log_probs, out_len):
    best = log_probs.argmax(-1).t()
    words = []
    for row, n in zip(best.tolist(), out_len.tolist()):
        row = row[:n]
        words.append([c for i, c in enumerate(row) if c != BLANK and (i == 0 or c != row[i - 1])])
    return words


def main():
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    loader = DataLoader(Strips(cfg), batch_size=cfg.batch, shuffle=True, collate_fn=collate)
    model = Recogniser(cfg.height, len(ALPHABET) + 1)
    ctc = nn.CTCLoss(blank=BLANK)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        total, exact, seen = 0.0, 0, 0
        for img, width, target, target_len in loader:
            log_probs = model(img)
            out_len = torch.div(width + Recogniser.stride - 1, Recogniser.stride,
                                rounding_mode="floor")
            loss = ctc(log_probs, target, out_len, target_len)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            opt.step()
            total += loss.item()
            truth = [t.tolist() for t in target.split(target_len.tolist())]
            exact += sum(a == b for a, b in zip(greedy(log_probs.detach(), out_len), truth))
            seen += len(truth)
        print(f"epoch {epoch} ctc {total / len(loader):.4f} exact {exact / seen:.3f}")


if __name__ == "__main__":
    main()
