"""Speech-command-like classifier with a hand-written AdaBelief."""
import torch
from torch import nn
from torch.optim import Optimizer


class AdaBelief(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-12, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["step"] = 0
                    state["mean"] = torch.zeros_like(p)
                    state["belief"] = torch.zeros_like(p)
                mean, belief, t = state["mean"], state["belief"], state["step"]
                mean.lerp_(p.grad, 1 - beta1)
                surprise = p.grad - mean
                belief.mul_(beta2).addcmul_(surprise, surprise, value=1 - beta2).add_(group["eps"])
                mean_hat = mean / (1 - beta1 ** t)
                belief_hat = belief / (1 - beta2 ** t)
                if group["weight_decay"]:
                    p.mul_(1 - group["lr"] * group["weight_decay"])
                p.sub_(group["lr"] * mean_hat / (belief_hat.sqrt() + group["eps"]))
                state["step"] += 1
        return loss


class Commands(nn.Module):
    def __init__(self, words=5):
        super().__init__()
        self.rnn = nn.GRU(6, 20, batch_first=True)
        self.head = nn.Linear(20, words)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.head(h[-1])


def utterances(n, seed):
    g = torch.Generator().manual_seed(seed)
    word = torch.randint(0, 5, (n,), generator=g)
    t = torch.arange(16) / 16
    tone = torch.sin(2 * torch.pi * (word[:, None] + 1) * t)
    x = tone[..., None] * torch.rand(6, generator=g) + 0.2 * torch.randn(n, 16, 6, generator=g)
    return x, word


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x, y = utterances(320, 0)
    xt, yt = utterances(80, 1)
    model = Commands()
    opt = AdaBelief(model.parameters(), lr=2e-3, weight_decay=1e-2)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    for epoch in range(10):
        for part in torch.randperm(len(x)).split(32):
            opt.zero_grad()
            loss = criterion(model(x[part]), y[part])
            loss.backward()
            opt.step()
        with torch.no_grad():
            accuracy = (model(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} accuracy {accuracy:.2f}")


if __name__ == "__main__":
    main()
