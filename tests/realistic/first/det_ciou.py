"""Single-object detector on synthetic images, CIoU box regression."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Rectangles(Dataset):
    def __init__(self, n, size=32, augment=False, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.size, self.augment = size, augment
        self.images, self.boxes = [], []
        for _ in range(n):
            w, h = torch.randint(5, 14, (2,), generator=g).tolist()
            x = int(torch.randint(0, size - w, (1,), generator=g))
            y = int(torch.randint(0, size - h, (1,), generator=g))
            img = 0.1 * torch.rand(1, size, size, generator=g)
            img[:, y:y + h, x:x + w] += 0.8
            self.images.append(img)
            self.boxes.append(torch.tensor([x, y, x + w, y + h]) / size)

    def __len__(self):
        return len(self.images)

    def random_shift(self, img, box, max_shift=14):
        dx, dy = torch.randint(-max_shift, max_shift + 1, (2,)).tolist()
        canvas = F.pad(img, (max_shift,) * 4)
        y0, x0 = max_shift - dy, max_shift - dx
        img = canvas[:, y0:y0 + self.size, x0:x0 + self.size]
        shift = torch.tensor([dx, dy, dx, dy]) / self.size
        return img, (box + shift).clamp(0, 1)

    def __getitem__(self, i):
        img, box = self.images[i], self.boxes[i]
        if self.augment:
            img, box = self.random_shift(img, box)
        return img, box


class BoxNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(width, width * 2, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(width * 2, width * 2, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(),
        )
        self.head = nn.Linear(width * 2 * 16, 4)
        nn.init.normal_(self.head.weight, std=0.01)

    def forward(self, x):
        cx, cy, w, h = torch.sigmoid(self.head(self.features(x))).unbind(-1)
        return torch.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], dim=-1)


def box_iou(a, b, eps=1e-7):
    lt = torch.maximum(a[:, :2], b[:, :2])
    rb = torch.minimum(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(dim=1)
    area_a = (a[:, 2:] - a[:, :2]).prod(dim=1)
    area_b = (b[:, 2:] - b[:, :2]).prod(dim=1)
    return inter / (area_a + area_b - inter + eps)


def ciou_loss(pred, gt, eps=1e-7):
    iou = box_iou(pred, gt)
    c_pred = (pred[:, :2] + pred[:, 2:]) / 2
    c_gt = (gt[:, :2] + gt[:, 2:]) / 2
    rho2 = ((c_pred - c_gt) ** 2).sum(dim=1)
    enclose = torch.maximum(pred[:, 2:], gt[:, 2:]) - torch.minimum(pred[:, :2], gt[:, :2])
    diag2 = (enclose ** 2).sum(dim=1) + eps
    wp, hp = (pred[:, 2:] - pred[:, :2]).unbind(1)
    wg, hg = (gt[:, 2:] - gt[:, :2]).unbind(1)
    v = 4 / math.pi ** 2 * (torch.atan(wg / hg) - torch.atan(wp / hp)) ** 2
    with torch.no_grad():
        alpha = v / (1 - iou + v + eps)
    return (1 - iou + rho2 / diag2 + alpha * v).mean()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    ious = torch.cat([box_iou(model(x), b) for x, b in loader])
    model.train()
    return ious.mean().item(), (ious > 0.5).float().mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--l1-weight", type=float, default=5.0)
    p.add_argument("--seed", type=int, default=3)
    args = p.parse_args()

    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    train = DataLoader(Rectangles(128, augment=True, seed=1), batch_size=args.batch_size, shuffle=True)
    val = DataLoader(Rectangles(32, seed=2), batch_size=32)

    model = BoxNet()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.epochs * len(train))
    for epoch in range(args.epochs):
        running = 0.0
        for images, boxes in train:
            opt.zero_grad(set_to_none=True)
            pred = model(images)
            loss = ciou_loss(pred, boxes) + args.l1_weight * F.l1_loss(pred, boxes)
            loss.backward()
            opt.step()
            sched.step()
            running += loss.item()
        miou, ap50 = evaluate(model, val)
        print(f"epoch {epoch}: loss {running / len(train):.4f}  mIoU {miou:.3f}  AP50 {ap50:.3f}")


if __name__ == "__main__":
    main()
