"""A toy DETR: a set of boxes matched to the truth by the Hungarian algorithm."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment


def scenes(n, seed):
    g = torch.Generator().manual_seed(seed)
    images, boxes = [], []
    for _ in range(n):
        size = 0.15 + 0.2 * torch.rand(2, 2, generator=g)
        corner = torch.rand(2, 2, generator=g) * (1 - size)
        box = torch.cat([corner, corner + size], 1)
        canvas = torch.zeros(1, 16, 16)
        for x0, y0, x1, y1 in (box * 16).long().tolist():
            canvas[0, y0:y1 + 1, x0:x1 + 1] = 1
        images.append(canvas)
        boxes.append(box)
    return torch.stack(images), torch.stack(boxes)


def iou(a, b):
    """Of every box of a with every box of b, as corners."""
    top = torch.maximum(a[:, None, :2], b[None, :, :2])
    bottom = torch.minimum(a[:, None, 2:], b[None, :, 2:])
    overlap = (bottom - top).clamp(min=0).prod(-1)
    area_a = (a[:, 2:] - a[:, :2]).clamp(min=0).prod(-1)
    area_b = (b[:, 2:] - b[:, :2]).clamp(min=0).prod(-1)
    return overlap / (area_a[:, None] + area_b[None, :] - overlap)


class Detector(nn.Module):
    def __init__(self, queries=4):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(),
        )
        self.boxes = nn.Linear(256, queries * 4)
        self.queries = queries

    def forward(self, x):
        return self.boxes(self.features(x)).view(-1, self.queries, 4).clamp(0, 1)


@torch.no_grad()
def match(predicted, truth):
    cost = torch.cdist(predicted, truth, p=1)
    same = iou(predicted, predicted).fill_diagonal_(0).amax(1)    # duplicates cost more
    cost = cost - iou(predicted, truth) + 0.5 * same[:, None]
    return linear_sum_assignment(cost.numpy())


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    images, boxes = scenes(200, 1)
    model = Detector()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(8):
        total = 0.0
        for rows in torch.randperm(len(images)).split(10):
            out = model(images[rows])
            loss = 0.0
            for predicted, truth in zip(out, boxes[rows]):
                i, j = match(predicted, truth)
                loss = loss + F.l1_loss(predicted[i], truth[j])
            loss = loss / len(rows)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} l1 {total / 20:.4f}")


if __name__ == "__main__":
    main()
