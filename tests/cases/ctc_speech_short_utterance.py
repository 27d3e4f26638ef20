# CTC training: a short utterance has fewer frames than labels after subsampling
# expect: error
# phase: data | forward
# op: aten::_ctc_loss | aten::ctc_loss
# line: 56
# cause: bad_input_data
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Acoustic(nn.Module):
    def __init__(self, mels=10, hidden=16, symbols=8):
        super().__init__()
        self.subsample = nn.Conv1d(mels, hidden, kernel_size=3, stride=2, padding=1)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, symbols)

    def forward(self, mels, lengths):
        x = F.relu(self.subsample(mels.transpose(1, 2))).transpose(1, 2)
        x, _ = self.rnn(x)
        return self.out(x).log_softmax(-1), (lengths + 1) // 2


class Corpus:
    def __init__(self, generator):
        self.generator = generator

    def utterance(self, frames, letters):
        mel = torch.randn(frames, 10, generator=self.generator)
        return mel, torch.randint(1, 8, (letters,), generator=self.generator)

    def batch(self, step):
        rows = [self.utterance(24 + 4 * k, 3 + k) for k in range(3)]
        if step == 7:
            rows.append(self.utterance(8, 6))  # 4 frames after subsampling, 6 letters
        mels, texts = zip(*rows)
        return (
            pad_sequence(list(mels), batch_first=True),
            torch.tensor([len(m) for m in mels]),
            torch.cat(texts),
            torch.tensor([len(t) for t in texts]),
        )


def main():
    torch.manual_seed(0)
    model = Acoustic()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.CTCLoss(blank=0)
    corpus = Corpus(torch.Generator().manual_seed(2))
    for step in range(12):
        mels, lengths, texts, text_lengths = corpus.batch(step)
        log_probs, lengths = model(mels, lengths)
        loss = criterion(log_probs.transpose(0, 1), texts, lengths, text_lengths)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(f"{step} {loss.item():.4f}")


if __name__ == "__main__":
    main()
