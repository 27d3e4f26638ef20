"""Six threads train at once, each its own model, and clean their own bad values and gradients.

Words after the script: `watch` puts them under one watch() block; `fault` lets the gradients of one
of them be bad for good in its step 20; `steps=N`.
"""

import sys
import threading

import torch
from torch import nn

WORDS = sys.argv[1:]
STEPS = next((int(word[6:]) for word in WORDS if word.startswith("steps=")), 40)


def train(number: int) -> None:
    spoiled = "fault" in WORDS and number == 4
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(STEPS):
        x = torch.randn(16, 8)
        y = model(x)
        if step % 3 == 0:
            y = y + torch.nan_to_num(torch.log(x[:, :1] * 0 - number - 1), nan=0.0)
        loss = (y**2).mean()
        if number % 2 and step % 5 == 1:
            loss = loss + torch.sqrt(model[0].weight * 0).sum()  # its slope is 0 * inf
        if spoiled and step == 20:
            loss = loss + torch.log(y.sum() * 0 - 1)  # <- birth
        optimizer.zero_grad()
        loss.backward()
        if not spoiled:
            for parameter in model.parameters():
                parameter.grad = torch.nan_to_num(parameter.grad)
        optimizer.step()


def main() -> None:
    threads = [threading.Thread(target=train, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("all have ended")


if "watch" in WORDS:
    import nanscope

    with nanscope.watch():
        main()
else:
    main()
