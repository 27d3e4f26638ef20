# pytorch-metric-learning: masked log-sum-exp and miners over batches where a sample has no positive, or none has
# expect: silence
import torch
from pytorch_metric_learning import distances, losses, miners, reducers
from torch import nn


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 8))
    miner = miners.MultiSimilarityMiner()
    hard = miners.BatchHardMiner()
    terms = {
        "ntxent": losses.NTXentLoss(temperature=0.1),
        "supcon": losses.SupConLoss(),
        "circle": losses.CircleLoss(),
        "multi": losses.MultiSimilarityLoss(),
        "triplet": losses.TripletMarginLoss(
            distance=distances.LpDistance(), reducer=reducers.AvgNonZeroReducer()
        ),
        "lifted": losses.GeneralizedLiftedStructureLoss(),
        "arcface": losses.ArcFaceLoss(8, 8),
    }
    parameters = [*net.parameters(), *terms["arcface"].parameters()]
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    for step in range(15):
        size = 24 if step % 5 else 4
        labels = torch.randint(0, 8, (size,)) if step != 10 else torch.arange(4)  # 10: no pair at all
        x = torch.randn(size, 6) + labels[:, None]
        embedded = net(x)
        pairs = miner(embedded, labels)
        values = {
            name: term(embedded, labels, hard(embedded, labels) if name == "triplet" else None)
            for name, term in terms.items()
        }
        values["mined"] = terms["circle"](embedded, labels, pairs)
        loss = sum(values.values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0 or step == 14:
            print(step, {name: f"{value.item():.3f}" for name, value in values.items()})


if __name__ == "__main__":
    main()
