import argparse
import math
import random
import re
from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F

TOPICS = {
    "sport": "goal match team player coach league season score win injury stadium fans".split(),
    "money": "bank market stock price rate inflation profit shares bond investor tax loan".split(),
    "space": "orbit rocket launch planet telescope star crew module moon mission probe lander".split(),
}
FILLER = "the a of and to in was is for on with by".split()


def write_corpus(n, seed):
    rng = random.Random(seed)
    docs, labels = [], []
    for i in range(n):
        topic = rng.randrange(len(TOPICS))
        words = list(TOPICS.values())[topic]
        body = [rng.choice(words if rng.random() < 0.4 else FILLER) for _ in range(rng.randint(6, 20))]
        if i % 97 == 60:
            body = [rng.choice(FILLER) for _ in range(4)]
        docs.append(" ".join(body))
        labels.append(topic)
    return docs, labels


def tokens(text):
    return [w for w in re.findall(r"[a-z]+", text.lower()) if w not in FILLER]


class Tfidf:
    def __init__(self, docs):
        df = Counter(w for d in docs for w in set(tokens(d)))
        self.vocab = {w: i for i, w in enumerate(sorted(df))}
        self.idf = torch.tensor([math.log(len(docs) / df[w]) for w in sorted(df)])

    def __call__(self, docs):
        x = torch.zeros(len(docs), len(self.vocab))
        for row, doc in enumerate(docs):
            for w, c in Counter(tokens(doc)).items():
                if w in self.vocab:
                    x[row, self.vocab[w]] = c
        return x * self.idf


class CosineClassifier(nn.Module):
    def __init__(self, inputs, classes, width=32, scale=10.0):
        super().__init__()
        self.project = nn.Linear(inputs, width, bias=False)
        self.prototypes = nn.Parameter(torch.randn(classes, width))
        self.scale = scale

    def forward(self, x):
        z = self.project(x)
        z = z / z.norm(dim=1, keepdim=True)
        w = F.normalize(self.prototypes, dim=1)
        return self.scale * z @ w.T


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--docs", type=int, default=600)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.02)
    opts = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(1)
    docs, labels = write_corpus(opts.docs, seed=3)
    vectorise = Tfidf(docs)
    y = torch.tensor(labels)
    model = CosineClassifier(len(vectorise.vocab), len(TOPICS))
    optimizer = torch.optim.SGD(model.parameters(), lr=opts.lr, momentum=0.9)

    for epoch in range(opts.epochs):
        running, hits = 0.0, 0
        for i in range(0, len(docs), opts.batch_size):
            batch = vectorise(docs[i:i + opts.batch_size])
            target = y[i:i + opts.batch_size]
            logits = model(batch)
            loss = F.cross_entropy(logits, target)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(target)
            hits += (logits.argmax(1) == target).sum().item()
        print(f"[{epoch}] loss={running / len(docs):.4f} acc={hits / len(docs):.3f}")


if __name__ == "__main__":
    main()
