# Magnitude spectrogram (power=1) of silence
# expect: error
# phase: backward
# op: aten::div | aten::sqrt
# line: 13
# cause: sqrt_gradient_at_zero | norm_gradient_at_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
wav = torch.zeros(1, 64)
wav[0, 40:] = torch.sin(torch.arange(24.))
wav.requires_grad_()
st = torch.stft(wav, 16, 8, window=torch.hann_window(16), center=False, return_complex=True)
spec = torch.view_as_real(st).pow(2).sum(-1).sqrt()
loss = spec.sum()
loss.backward()
values = dict(loss=loss, grad=wav.grad)
