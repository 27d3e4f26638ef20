# Beam search: the no-repeat rule bans every token, log_softmax of a row of -inf is NaN
# expect: error
# phase: forward
# op: aten::_log_softmax | aten::log_softmax
# line: 41
# cause: all_masked_softmax
import torch
import torch.nn.functional as F
from torch import nn

EOS = 0


class Decoder(nn.Module):
    def __init__(self, vocabulary=6, hidden=16):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.out = nn.Linear(hidden, vocabulary)

    def forward(self, tokens, state):
        state = self.cell(self.embed(tokens), state)
        return self.out(state), state


def ban_repeats(logits, sequences):
    """A token may be used once; the end may not come before min_length (so it is banned as well)."""
    logits = logits.scatter(1, sequences, float("-inf"))
    logits[:, EOS] = float("-inf")
    return logits


@torch.no_grad()
def beam_search(model, start, beams=3, max_length=8):
    scores = torch.full((beams,), float("-inf"))
    scores[0] = 0.0
    sequences = torch.full((beams, 1), start)
    state = torch.zeros(beams, 16)
    for _ in range(max_length):
        logits, state = model(sequences[:, -1], state)
        log_probs = F.log_softmax(ban_repeats(logits, sequences), dim=-1)
        total = scores.unsqueeze(1) + log_probs
        scores, flat = total.view(-1).topk(beams)
        parent, token = flat // log_probs.size(1), flat % log_probs.size(1)
        sequences = torch.cat([sequences[parent], token.unsqueeze(1)], dim=1)
        state = state[parent]
    return sequences, scores / sequences.size(1) ** 0.6


def main():
    torch.manual_seed(0)
    model = Decoder().eval()
    for start in (1, 2):
        sequences, scores = beam_search(model, start)
        for sequence, score in zip(sequences.tolist(), scores.tolist()):
            print(f"{score:8.3f}  {' '.join(map(str, sequence))}")


if __name__ == "__main__":
    main()
