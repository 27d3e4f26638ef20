# diffusers: a small UNet compiled, two steps of denoising training
# expect: silence
import torch
import torch.nn.functional as F
from diffusers import DDPMScheduler, UNet2DModel

torch.manual_seed(0)
model = UNet2DModel(
    sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 16),
    norm_num_groups=4, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
)
scheduler = DDPMScheduler(num_train_timesteps=100)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
forward = torch.compile(model)
for step in range(2):
    clean, noise = torch.randn(4, 1, 8, 8), torch.randn(4, 1, 8, 8)
    times = torch.randint(0, 100, (4,))
    predicted = forward(scheduler.add_noise(clean, noise, times), times).sample
    loss = F.mse_loss(predicted, noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step} {loss.item():.4f}")
