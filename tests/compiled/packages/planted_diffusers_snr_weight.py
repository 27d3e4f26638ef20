# diffusers: the loss is weighted by 1 / SNR with a compiled UNet; the last step has no signal left
# expect: error
# phase: forward
# op: aten::div
# line: 24
# cause: division_by_zero
import torch
from diffusers import DDPMScheduler, UNet2DModel

torch.manual_seed(0)
model = UNet2DModel(
    sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 16),
    norm_num_groups=4, down_block_types=("DownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "UpBlock2D"),
)
scheduler = DDPMScheduler(num_train_timesteps=100, rescale_betas_zero_snr=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)


@torch.compile
def loss_of(noisy, times, noise, kept):
    predicted = model(noisy, times).sample
    snr = (kept / (1 - kept))[:, None, None, None]
    return ((predicted - noise).square() / snr).mean()


for last in (50, 99):
    clean, noise = torch.randn(4, 1, 8, 8), torch.randn(4, 1, 8, 8)
    times = torch.tensor([3, 20, 40, last])
    kept = scheduler.alphas_cumprod[times].round(decimals=6)
    loss = loss_of(scheduler.add_noise(clean, noise, times), times, noise, kept)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
