# torch.multinomial on the softmax of logits that overflowed
# expect: error
# phase: forward
# op: aten::exp
# line: 15
# cause: exp_overflow
import torch


class Sampler:
    def __init__(self, temperature):
        self.temperature = temperature

    def draw(self, scores):
        logits = torch.exp(scores / self.temperature)
        probabilities = torch.softmax(logits, dim=-1)
        return torch.multinomial(probabilities, num_samples=2)


torch.manual_seed(0)
scores = torch.randn(2, 6)
for temperature in (1.0, 0.5, 0.01):
    print(temperature, Sampler(temperature).draw(scores).tolist())
