# torchdiffeq: adaptive steps with the adjoint and an event; zuko: a spline flow with -inf outside a uniform base
# expect: silence
import torch
import zuko
from torch import nn
from torchdiffeq import odeint, odeint_adjoint, odeint_event


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))

    def forward(self, t, y):
        return self.net(y**3)


class Fall(nn.Module):
    def __init__(self):
        super().__init__()
        self.gravity = nn.Parameter(torch.tensor(9.0))

    def forward(self, t, state):
        height, speed = state
        return speed, -self.gravity * torch.ones_like(height)


def spiral():
    true = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    t = torch.linspace(0, 2, 12)
    start = torch.tensor([[2.0, 0.0]])
    with torch.no_grad():
        wanted = odeint(lambda _, y: y**3 @ true, start, t, method="dopri5")
    field = Field()
    optimizer = torch.optim.RMSprop(field.parameters(), lr=1e-3)
    for step in range(5):
        optimizer.zero_grad()
        loss = (odeint_adjoint(field, start, t, rtol=1e-4, atol=1e-5) - wanted).abs().mean()
        loss.backward()
        optimizer.step()
    print(f"spiral {loss.item():.4f}")


def fall():
    ball = Fall()
    optimizer = torch.optim.SGD(ball.parameters(), lr=5.0)
    for step in range(3):
        state = (torch.tensor([10.0]), torch.tensor([0.0]))
        when, _ = odeint_event(
            ball, state, torch.tensor(0.0), event_fn=lambda t, s: s[0], odeint_interface=odeint
        )
        optimizer.zero_grad()
        loss = (when - 1.4) ** 2
        loss.sum().backward()
        optimizer.step()
    print(f"gravity {ball.gravity.item():.4f}")


def flow():
    model = zuko.flows.NSF(2, context=1, transforms=2, hidden_features=(16,))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(12):
        c = torch.rand(64, 1)
        x = torch.randn(64, 2) * (1 + c) + 8 * (torch.rand(64, 1) < 0.05)  # some outside the spline's box
        optimizer.zero_grad()
        loss = -model(c).log_prob(x).mean()
        loss.backward()
        optimizer.step()
    print(f"flow {loss.item():.4f}")
    box = zuko.distributions.BoxUniform(torch.zeros(2), torch.ones(2))
    inside = box.log_prob(torch.rand(16, 2) * 1.5)  # -inf outside
    print(f"inside {inside.isfinite().float().mean():.3f}")


def main():
    torch.manual_seed(0)
    spiral()
    fall()
    flow()


if __name__ == "__main__":
    main()
