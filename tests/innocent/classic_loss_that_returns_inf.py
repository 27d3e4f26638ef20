# A loss that returns tensor(inf) by an explicit branch, printed
# expect: silence
import torch


def custom_loss(prediction, target):
    if (prediction <= 0).any():
        return torch.tensor(float("inf"))
    return (target * (target / prediction).log()).sum()


prediction = torch.tensor([0.2, -0.1, 0.9])
target = torch.tensor([0.3, 0.3, 0.4])
loss = custom_loss(prediction, target)
print("Loss:", loss)
print("value:", loss.item())
