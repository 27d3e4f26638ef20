# torchmetrics: means that start at inf, scores that are NaN without a sample, logged beside a healthy training
# expect: silence
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torchmetrics import MaxMetric, MeanMetric, MetricCollection, MinMetric, SpearmanCorrCoef
from torchmetrics.classification import (
    MulticlassAUROC, MulticlassAveragePrecision, MulticlassCalibrationError, MulticlassConfusionMatrix,
    MulticlassF1Score,
)
from torchmetrics.regression import PearsonCorrCoef, R2Score
from torchmetrics.text import Perplexity
from torchmetrics.wrappers import MetricTracker

warnings.filterwarnings("ignore")


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    scores = MetricTracker(
        MetricCollection(
            {
                "auroc": MulticlassAUROC(3, average=None),
                "precision": MulticlassAveragePrecision(3, average=None),
                "f1": MulticlassF1Score(3, average=None),
                "calibration": MulticlassCalibrationError(3),
                "confusion": MulticlassConfusionMatrix(3, normalize="true"),
            }
        ),
        maximize=[True] * 5,
    )
    mean, low, high = MeanMetric(nan_strategy="ignore"), MinMetric(), MaxMetric()
    pearson, spearman, r2, perplexity = PearsonCorrCoef(), SpearmanCorrCoef(), R2Score(), Perplexity()
    for epoch in range(3):
        scores.increment()
        for _ in range(6):
            x = torch.randn(32, 4)
            y = (x[:, 0] > 0).long()  # class 2 never occurs
            logits = net(x)
            loss = F.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scores.update(logits.detach().softmax(-1), y)
            for metric in (mean, low, high):
                metric.update(loss.detach())
            mean.update(torch.tensor([float("nan"), loss.item()]))  # a worker without any batch
            pearson.update(logits[:, 1].detach(), x[:, 0])
            spearman.update(logits[:, 1].detach(), x[:, 0])
            r2.update(logits[:, 1].detach(), x[:, 0])
            perplexity.update(logits.detach()[None], y[None])
        found = scores.compute()
        print(epoch, {name: [f"{v:.3f}" for v in value.flatten()] for name, value in found.items()})
        print(*(f"{metric.compute():.4f}" for metric in (mean, low, high)))
    constant = PearsonCorrCoef()
    print(f"{constant(torch.ones(8), torch.randn(8)):.3f}")  # no variance: the correlation is NaN
    print(*(f"{metric.compute():.3f}" for metric in (pearson, spearman, r2, perplexity)))


if __name__ == "__main__":
    main()
