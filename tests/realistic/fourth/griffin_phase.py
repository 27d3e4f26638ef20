"""A denoiser that keeps the phase of the noisy spectrogram."""
import torch
import torch.nn as nn


def clips(n, length, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(length) / 8000
    tone = 200 + 600 * torch.rand(n, 1, generator=g)
    clean = torch.sin(2 * torch.pi * tone * t)
    noisy = clean + 0.1 * torch.randn(n, length, generator=g)
    quiet = torch.arange(n) % 12 == 7
    clean[quiet, : length // 2] = 0.0
    noisy[quiet, : length // 2] = 0.0
    return clean, noisy


class Denoiser(nn.Module):
    def __init__(self, n_fft=128):
        super().__init__()
        self.n_fft = n_fft
        self.register_buffer("window", torch.hann_window(n_fft))
        self.gain = nn.Sequential(nn.Conv1d(n_fft // 2 + 1, 64, 3, padding=1), nn.ReLU(), nn.Conv1d(64, n_fft // 2 + 1, 3, padding=1), nn.Softplus())

    def forward(self, wave):
        spectrum = torch.stft(wave, self.n_fft, hop_length=64, window=self.window, return_complex=True)
        magnitude = spectrum.abs()
        phase = spectrum / magnitude
        cleaned = self.gain(torch.log1p(magnitude)) * magnitude * phase
        return torch.istft(cleaned, self.n_fft, hop_length=64, window=self.window, length=wave.shape[-1])


def main():
    torch.manual_seed(2)
    clean, noisy = clips(48, 1024, 6)
    model = Denoiser()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(3):
        for i in range(0, 48, 4):
            out = model(noisy[i:i + 4])
            loss = (out - clean[i:i + 4]).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
