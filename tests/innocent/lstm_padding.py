# LSTM over packed sequences: -inf at padding before the max, and a sentence without any tag
# expect: silence
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

IGNORE = -1


class Tagger(nn.Module):
    """Tags every token and scores the sentence (max over the words that exist)."""

    def __init__(self, vocabulary=30, tags=4, width=12):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True, bidirectional=True, dropout=0.1)
        self.tag = nn.Linear(2 * width, tags)
        self.sentence = nn.Linear(2 * width, 1)

    def forward(self, words, lengths):
        packed = pack_padded_sequence(self.embed(words), lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        padding = torch.arange(states.shape[1])[None] >= lengths[:, None]
        best = states.masked_fill(padding[..., None], float("-inf")).amax(dim=1)
        return self.tag(states), self.sentence(best).squeeze(-1)


def tag_loss(logits, tags):
    logp = logits.log_softmax(-1)
    known = tags != IGNORE
    picked = logp.gather(-1, tags.clamp(min=0)[..., None]).squeeze(-1)
    per_sentence = -(picked * known).sum(1) / known.sum(1).clamp(min=1)
    return per_sentence.mean()


def make_corpus(n=40):
    corpus = []
    for i in range(n):
        words = torch.randint(1, 30, (int(torch.randint(2, 9, ())),))
        tags = words % 4
        tags[torch.rand(len(tags)) < 0.2] = IGNORE
        tags[0] = words[0] % 4
        if i == 26:
            tags[:] = IGNORE  # nobody annotated this one
        corpus.append((words, tags, float(words.float().mean() > 15)))
    return corpus


def collate(samples):
    words, tags, labels = zip(*samples)
    lengths = torch.tensor([len(w) for w in words])
    return (
        pad_sequence(words, batch_first=True),
        pad_sequence(tags, batch_first=True, padding_value=IGNORE),
        lengths,
        torch.tensor(labels),
    )


def train(model, loader, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        total = 0.0
        for words, tags, lengths, labels in loader:
            tag_logits, sentence = model(words, lengths)
            loss = tag_loss(tag_logits, tags)
            loss = loss + 0.5 * nn.functional.binary_cross_entropy_with_logits(sentence, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(loader):.3f}")


if __name__ == "__main__":
    torch.manual_seed(3)
    train(Tagger(), DataLoader(make_corpus(), batch_size=8, collate_fn=collate), epochs=2)
