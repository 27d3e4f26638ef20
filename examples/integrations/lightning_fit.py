"""A Lightning fit in which one batch has no labelled row: 0 / 0."""

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from nanscope.integrations.lightning import NanscopeCallback


class SemiSupervised(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))

    def training_step(self, batch, index):
        x, y, labelled = batch
        each = F.cross_entropy(self.net(x), y, reduction="none")
        return (each * labelled).sum() / labelled.sum()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


def fit(healthy: bool, callback: NanscopeCallback) -> L.Trainer:
    L.seed_everything(1, verbose=False)
    x, labelled = torch.randn(96, 6), torch.ones(96)
    if not healthy:
        labelled[64:72] = 0.0
    data = TensorDataset(x, (x[:, 0] > 0).long(), labelled)
    trainer = L.Trainer(
        max_epochs=2, accelerator="cpu", callbacks=[callback], enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, logger=False,
    )
    trainer.fit(SemiSupervised(), DataLoader(data, batch_size=8))
    return trainer


if __name__ == "__main__":
    fit(healthy=False, callback=NanscopeCallback())
