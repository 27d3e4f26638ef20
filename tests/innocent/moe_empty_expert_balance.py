# Mixture of experts: empty experts run on zero rows, their load is clamped, the entropy uses nansum
# expect: silence
import torch
import torch.nn.functional as F
from torch import nn


class Experts(nn.Module):
    def __init__(self, dim=8, experts=4):
        super().__init__()
        self.router = nn.Linear(dim, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 16), nn.SiLU(), nn.Linear(16, dim)) for _ in range(experts)
        )

    def forward(self, tokens):
        gates = F.softmax(self.router(tokens), dim=-1)
        weight, chosen = gates.max(dim=-1)
        out = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows = (chosen == number).nonzero().squeeze(-1)
            out = out.index_add(0, rows, weight[rows, None] * expert(tokens[rows]))
        routed = F.one_hot(chosen, gates.size(1)).float()
        return out, self.balance(gates, routed)

    @staticmethod
    def balance(gates, routed):
        load = routed.sum(0)
        confidence = (gates * routed).sum(0) / load.clamp(min=1.0)
        return (confidence * load / load.sum()).sum()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.moe = Experts()
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        h, balance = self.moe(x)
        return self.head(F.layer_norm(x + h, (8,))).squeeze(-1), balance


def main():
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    generator = torch.Generator().manual_seed(1)
    for step in range(30):
        size = 64 if step < 15 else 2  # the tail of the curriculum: tiny batches
        x = torch.randn(size, 8, generator=generator)
        prediction, balance = model(x)
        loss = F.mse_loss(prediction, x[:, 0].abs()) + 0.01 * balance
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            with torch.no_grad():
                share = F.softmax(model.moe.router(x), dim=-1).argmax(-1).bincount(minlength=4) / size
                entropy = -(share * share.log()).nansum()  # an idle expert: 0 * -inf
            print(step, f"{loss.item():.4f} entropy {entropy.item():.3f}")


if __name__ == "__main__":
    main()
