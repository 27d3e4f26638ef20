# lightning: a compiled module is fitted
# expect: silence
import logging
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class SemiSupervised(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 2))
        self.loss_of = torch.compile(self.loss_of)

    def loss_of(self, x, y, labelled):
        each = F.cross_entropy(self.net(x), y, reduction="none")
        return (each * labelled).sum() / labelled.sum()

    def training_step(self, batch, index):
        loss = self.loss_of(*batch)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


def main():
    L.seed_everything(1, verbose=False)
    x = torch.randn(96, 6)
    labelled = (torch.rand(96) < 0.7).float()
    labelled[64:72] = 1.0
    data = TensorDataset(x, (x[:, 0] > 0).long(), labelled)
    trainer = L.Trainer(
        max_epochs=1, accelerator="cpu", gradient_clip_val=1.0, logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    model = SemiSupervised()
    trainer.fit(model, DataLoader(data, batch_size=8))
    print(f"loss {float(trainer.callback_metrics['loss']):.4f}")


main()
