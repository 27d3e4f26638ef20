# Quantisation observer: min/max buffers start at +inf/-inf
# expect: silence
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    from torch.ao.quantization import MinMaxObserver
    obs = MinMaxObserver()
    start = torch.stack([obs.min_val, obs.max_val])
    obs(torch.randn(4, 4))
    scale, zp = obs.calculate_qparams()
    return dict(scale=scale, zp=zp, min_val=obs.min_val, max_val=obs.max_val, start_is_inf=bool(start.isinf().all()))

if __name__ == "__main__":
    print(main())
