# lightning: best scores that start at inf, bf16-mixed, clipping, checkpoints, a metric that is NaN for an absent class
# expect: silence
import logging
import tempfile
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy, MulticlassJaccardIndex

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.GELU(), nn.Linear(24, 4))
        self.accuracy = MulticlassAccuracy(4)
        self.overlap = MulticlassJaccardIndex(5, average="none", zero_division=float("nan"))

    def training_step(self, batch, index):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y, label_smoothing=0.1)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        logits = self.net(x)
        self.accuracy(logits.float(), y)
        self.overlap(logits.argmax(-1), y)
        self.log("val_accuracy", self.accuracy)
        self.log("val_loss", F.cross_entropy(logits, y))

    def on_validation_epoch_end(self):
        self.log("val_iou", self.overlap.compute().nanmean())  # the fifth class never occurs
        self.overlap.reset()

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=2e-2)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": plateau, "monitor": "val_loss"}}


def loader(size, seed, shuffle=False):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(size, 6, generator=generator)
    y = (x[:, 0] > 0).long() + 2 * (x[:, 1] * x[:, 2] > 0).long()
    return DataLoader(TensorDataset(x, y), batch_size=32, shuffle=shuffle)


def fit(precision, folder):
    L.seed_everything(0, verbose=False)
    checkpoint = ModelCheckpoint(folder, monitor="val_loss", save_top_k=2)
    stopping = EarlyStopping("val_loss", patience=2, check_finite=True)
    trainer = L.Trainer(
        max_epochs=6, accelerator="cpu", devices=1, precision=precision, gradient_clip_val=1.0,
        callbacks=[checkpoint, stopping], logger=False, default_root_dir=folder,
        enable_progress_bar=False, enable_model_summary=False, detect_anomaly=False,
    )
    model = Classifier()
    trainer.fit(model, loader(256, 1, shuffle=True), loader(96, 2))
    numbers = {name: f"{float(value):.4f}" for name, value in trainer.callback_metrics.items()}
    print(precision, trainer.current_epoch, f"best {float(checkpoint.best_model_score):.4f}", numbers)
    best = Classifier.load_from_checkpoint(checkpoint.best_model_path)
    print(f"{trainer.validate(best, loader(96, 2), verbose=False)[0]['val_loss']:.4f}")


def main():
    for precision in ("32-true", "bf16-mixed"):
        with tempfile.TemporaryDirectory() as folder:
            fit(precision, folder)


if __name__ == "__main__":
    main()
