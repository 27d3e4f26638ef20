"""Small steps, where what we do for each op shows: and one real trainer with its hooks."""

from __future__ import annotations

import tempfile

import torch
import workloads
from torch import nn
from torch.nn import functional as F
from workloads import Workload, stepper


def policy_gradient():
    """REINFORCE with a two-layer policy: it acts, is rewarded and learns, in each step."""
    policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(policy.parameters(), 1e-3)
    dynamics = torch.randn(4, 4) * 0.1

    def loss():
        state, chances, rewards = torch.zeros(4), [], []
        for _ in range(16):
            choice = torch.distributions.Categorical(logits=policy(state))
            action = choice.sample()
            state = torch.tanh(dynamics @ state + 0.1 * (2 * action.float() - 1))
            chances.append(choice.log_prob(action))
            rewards.append(1 - state[0].abs().item())
        returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        return -(torch.stack(chances) * returns).sum()

    return stepper(policy, optimizer, loss)


class Messages(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(16, 32), nn.Linear(32, 32)])
        self.head = nn.Linear(32, 4)

    def forward(self, x, source, target):
        for layer in self.layers:
            gathered = torch.zeros_like(x).scatter_add(
                0, target[:, None].expand(-1, x.shape[1]), x[source]
            )
            x = F.relu(layer(x + gathered))
        return self.head(x)


def small_graph():
    model, x, y = Messages(), torch.randn(64, 16), torch.randint(0, 4, (64,))
    source, target = torch.randint(0, 64, (2, 256))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    return stepper(model, optimizer, lambda: F.cross_entropy(model(x, source, target), y))


def per_sample_gradients():
    """Each clipped by its own norm, as for differential privacy."""
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    x, y = torch.randn(16, 16), torch.randint(0, 4, (16,))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def loss_of(parameters, one, label):
        scores = torch.func.functional_call(model, parameters, (one[None],))
        return F.cross_entropy(scores, label[None])

    gradients_of = torch.func.vmap(torch.func.grad(loss_of), in_dims=(None, 0, 0))

    def step() -> None:
        found = gradients_of(dict(model.named_parameters()), x, y)
        norms = torch.stack([g.flatten(1).norm(dim=1) for g in found.values()]).norm(dim=0)
        factors = (1 / (norms + 1e-6)).clamp(max=1)
        for name, parameter in model.named_parameters():
            parameter.grad = torch.einsum("b,b...->...", factors, found[name]) / len(x)
        optimizer.step()

    step.model, step.optimizer = model, optimizer
    return step


def trainer():
    """A step of Hugging Face's Trainer, with what it does around the step and its callbacks."""
    workloads.find_packages()
    from transformers import (
        BertConfig,
        BertForMaskedLM,
        Trainer,
        TrainerCallback,
        TrainingArguments,
    )

    config = BertConfig(
        vocab_size=500,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
    )
    model, words = BertForMaskedLM(config), torch.randint(0, 500, (1 << 16, 16))

    class Words(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return len(words)

        def __getitem__(self, number):
            return {"input_ids": words[number], "labels": words[number]}

    class Asks(TrainerCallback):
        """Whether there is another step, of whoever drives the training."""

        def on_step_end(self, _, __, control, **___) -> None:
            control.should_training_stop = not self.goes_on()

    asks = Asks()
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=8,
        max_steps=1 << 17,
        report_to=[],
        save_strategy="no",
        logging_steps=50,
        disable_tqdm=True,
        use_cpu=True,
    )
    learner = Trainer(model=model, args=arguments, train_dataset=Words(), callbacks=[asks])

    def drive(goes_on) -> None:
        asks.goes_on = goes_on
        if goes_on():
            learner.train()

    return Driven(drive)


class Driven:
    """A step that cannot be called: its trainer calls `goes_on` behind each."""

    def __init__(self, drive) -> None:
        self.drive = drive


ALL = {
    "REINFORCE, two-layer policy": Workload(policy_gradient, 20, warm=20, counted=10),
    "small graph network, scatter": Workload(small_graph, 60, warm=40, counted=20),
    # The rivals ask tensors for numbers, which vmap refuses.
    "per-sample gradients by vmap": Workload(
        per_sample_gradients, 40, warm=40, counted=20, rivals=False
    ),
    "HF Trainer, one-layer BERT": Workload(trainer, 20, warm=20, counted=10, rivals=False),
}
