"""Discrete-time survival model; its report has infinities where nothing is reached."""
import torch
import torch.nn as nn
import torch.nn.functional as F

BINS = 10


def patients(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 5, generator=g)
    risk = torch.exp(0.7 * x[:, 0] - 0.5 * x[:, 1])
    time = (-torch.rand(n, generator=g).clamp(min=1e-6).log() / (0.15 * risk)).floor()
    event = time < BINS
    return x, time.clamp(max=BINS - 1).long(), event


class Hazards(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, BINS))

    def forward(self, x):
        return self.net(x)


def negative_log_likelihood(logits, time, event):
    bins = torch.arange(BINS)
    lived = (bins < time[:, None]) | ((bins == time[:, None]) & ~event[:, None])
    died = (bins == time[:, None]) & event[:, None]
    loss = F.softplus(logits) * lived + F.softplus(-logits) * died
    return loss.sum(1).mean()


@torch.no_grad()
def report(model, x, time, event):
    survival = torch.cumprod(1 - torch.sigmoid(model(x)), 1)
    reached = survival < 0.5
    median = torch.where(reached.any(1), reached.float().argmax(1).float(), torch.tensor(float("inf")))
    # Kaplan-Meier of the cohort; where nobody is left the hazard is 0/0
    at_risk = torch.stack([(time >= b).sum() for b in range(BINS)]).float()
    deaths = torch.stack([((time == b) & event).sum() for b in range(BINS)]).float()
    first_ten = deaths[:3] / at_risk[:3]
    nobody = torch.zeros(BINS) / torch.zeros(BINS)
    log_km = torch.log1p(-torch.cat([first_ten, deaths[3:] / at_risk[3:]])).cumsum(0)
    young = x[:, 0] > 3.5
    young_mean = median[young].mean()          # of nobody
    return {
        "median": median[torch.isfinite(median)].mean().item(),
        "never": torch.isinf(median).float().mean().item(),
        "km": log_km[-1].exp().item(),
        "young": young_mean.item(),
        "empty": torch.nanmean(torch.cat([nobody, at_risk])).item(),
    }


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    x, time, event = patients(400, 1)
    test = patients(120, 2)
    model = Hazards()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    best = float("inf")
    for epoch in range(10):
        for part in torch.randperm(len(x)).split(40):
            loss = negative_log_likelihood(model(x[part]), time[part], event[part])
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            held_out = negative_log_likelihood(model(test[0]), *test[1:]).item()
        best = min(best, held_out)
        told = "  ".join(f"{k} {v:.3f}" for k, v in report(model, *test).items())
        print(f"epoch {epoch} nll {held_out:.4f} (best {best:.4f})  {told}")


if __name__ == "__main__":
    main()
