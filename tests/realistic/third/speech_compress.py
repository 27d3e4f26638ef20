"""Speech enhancement: a mask network trained with a power-law compressed spectral loss."""
import torch
import torch.nn as nn

SAMPLE_RATE = 8000
FFT, HOP = 128, 64


def utterance(g, seconds=0.25):
    n = int(SAMPLE_RATE * seconds)
    t = torch.arange(n) / SAMPLE_RATE
    pitch = 120 + 80 * torch.rand(1, generator=g)
    clean = sum(torch.sin(2 * torch.pi * pitch * k * t) / k for k in (1, 2, 3))
    envelope = torch.rand(5, generator=g).repeat_interleave(n // 5)
    clean = clean * nn.functional.pad(envelope, (0, n - len(envelope)))
    return clean, clean + 0.2 * torch.randn(n, generator=g)


class Pairs(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = [utterance(g) for _ in range(n)]
        # silence, as between two sentences
        for i in range(30, n, 50):
            clean, noisy = self.items[i]
            self.items[i] = torch.zeros_like(clean), torch.zeros_like(noisy)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class Enhancer(nn.Module):
    def __init__(self, bins=FFT // 2 + 1, width=48):
        super().__init__()
        self.register_buffer("window", torch.hann_window(FFT))
        self.net = nn.Sequential(nn.Linear(bins, width), nn.ReLU(), nn.Linear(width, bins), nn.Sigmoid())

    def spectrum(self, wave):
        return torch.stft(wave, FFT, HOP, window=self.window, return_complex=True).transpose(1, 2)

    def forward(self, noisy):
        s = self.spectrum(noisy)
        return s * self.net(torch.log1p(s.abs()))


def compressed_loss(estimate, target, power=0.3):
    a = estimate.abs() ** power
    b = target.abs() ** power
    return (a - b).square().mean()


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(Pairs(120, seed=4), batch_size=8)
    model = Enhancer()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(4):
        total = 0.0
        for clean, noisy in loader:
            loss = compressed_loss(model(noisy), model.spectrum(clean))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
