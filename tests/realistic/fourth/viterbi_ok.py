"""A linear-chain tagger with forbidden transitions (-inf), trained and decoded."""
import torch
import torch.nn as nn

TAGS = ["O", "B", "I"]


def sentences(n, seed):
    g = torch.Generator().manual_seed(seed)
    out = []
    for _ in range(n):
        words = torch.randint(0, 50, (8,), generator=g)
        tags = torch.where(words < 10, 1, 0)
        tags[1:] = torch.where((words[1:] >= 40) & (tags[:-1] == 1), 2, tags[1:])
        out.append((words, tags))
    return out


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 3)
        self.transitions = nn.Parameter(torch.zeros(3, 3))
        forbidden = torch.zeros(3, 3, dtype=torch.bool)
        forbidden[0, 2] = True
        self.register_buffer("forbidden", forbidden)
        self.register_buffer("start", torch.tensor([0.0, 0.0, float("-inf")]))

    def allowed(self):
        return self.transitions.masked_fill(self.forbidden, float("-inf"))

    def log_partition(self, scores):
        alpha = self.start + scores[0]
        for t in range(1, len(scores)):
            alpha = torch.logsumexp(alpha.unsqueeze(1) + self.allowed(), dim=0) + scores[t]
        return torch.logsumexp(alpha, dim=0)

    def score(self, scores, tags):
        total = self.start[tags[0]] + scores[0, tags[0]]
        moves = self.allowed()
        for t in range(1, len(tags)):
            total = total + moves[tags[t - 1], tags[t]] + scores[t, tags[t]]
        return total

    def decode(self, scores):
        best, back = self.start + scores[0], []
        for t in range(1, len(scores)):
            candidate, which = (best.unsqueeze(1) + self.allowed()).max(dim=0)
            best = candidate + scores[t]
            back.append(which)
        path = [int(best.argmax())]
        for which in reversed(back):
            path.append(int(which[path[-1]]))
        return path[::-1]


def main():
    torch.manual_seed(0)
    model = Chain()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    data = sentences(60, 1)
    best = float("inf")
    for epoch in range(3):
        total = 0.0
        for words, tags in data:
            scores = model.words(words)
            loss = model.log_partition(scores) - model.score(scores, tags)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        best = min(best, total)
    with torch.no_grad():
        right = sum(model.decode(model.words(w)) == t.tolist() for w, t in data)
        lattice = model.start + model.words(data[0][0])[0]
        print("start scores:", lattice.tolist(), "right:", right, "best:", best)


if __name__ == "__main__":
    main()
