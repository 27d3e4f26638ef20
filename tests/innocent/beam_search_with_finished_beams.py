# Beam search: -inf start scores, banned tokens and frozen finished beams, all on purpose
# expect: silence
import torch
import torch.nn.functional as F
from torch import nn

EOS = 0
NEGATIVE = float("-inf")


class Decoder(nn.Module):
    def __init__(self, vocabulary=12, hidden=16):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.out = nn.Linear(hidden, vocabulary)

    def forward(self, tokens, state):
        state = self.cell(self.embed(tokens), state)
        return self.out(state), state


@torch.no_grad()
def beam_search(model, start, beams=4, max_length=8):
    scores = torch.full((beams,), NEGATIVE)
    scores[0] = 0.0
    sequences = torch.full((beams, 1), start)
    finished = torch.zeros(beams, dtype=torch.bool)
    state = torch.zeros(beams, 16)
    for length in range(max_length):
        logits, state = model(sequences[:, -1], state)
        logits = logits.scatter(1, sequences[:, -1:], NEGATIVE)  # never the same token twice in a row
        if length < 2:
            logits[:, EOS] = NEGATIVE
        log_probs = F.log_softmax(logits, dim=-1)
        only_end = torch.full_like(log_probs, NEGATIVE)
        only_end[:, EOS] = 0.0
        log_probs = torch.where(finished.unsqueeze(1), only_end, log_probs)
        total = (scores.unsqueeze(1) + log_probs).view(-1)
        scores, flat = total.topk(beams)
        parent, token = flat // log_probs.size(1), flat % log_probs.size(1)
        sequences = torch.cat([sequences[parent], token.unsqueeze(1)], dim=1)
        state, finished = state[parent], finished[parent] | (token == EOS)
        if finished.all():
            break
    return sequences, scores / sequences.size(1) ** 0.6


def main():
    torch.manual_seed(0)
    model = Decoder().eval()
    for start in (1, 2, 3):
        sequences, scores = beam_search(model, start)
        best = int(scores.argmax())
        print(f"{scores[best].item():8.3f}  {' '.join(map(str, sequences[best].tolist()))}")


if __name__ == "__main__":
    main()
