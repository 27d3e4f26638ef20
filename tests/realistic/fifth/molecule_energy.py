"""Message passing network for molecular energies; saves a compact checkpoint and resumes."""
import io

import torch
import torch.nn as nn


def make_molecules(n, seed):
    """Random small graphs: node types, symmetric edges, total energy in J/mol."""
    g = torch.Generator().manual_seed(seed)
    out = []
    for _ in range(n):
        k = int(torch.randint(4, 10, (), generator=g))
        z = torch.randint(0, 4, (k,), generator=g)
        adj = torch.rand(k, k, generator=g) < 0.4
        adj = torch.triu(adj, 1)
        for i in range(1, k):
            adj[i - 1, i] = True
        src, dst = adj.nonzero(as_tuple=True)
        e = -4.0e4 * (1.0 + z).sum() - 9.0e3 * len(src) + 2.0e3 * torch.randn((), generator=g)
        edge = torch.stack([torch.cat([src, dst]), torch.cat([dst, src])])
        out.append((z, edge, e))
    return out


def collate(mols):
    zs, edges, batch, es, off = [], [], [], [], 0
    for b, (z, edge, e) in enumerate(mols):
        zs.append(z)
        edges.append(edge + off)
        batch.append(torch.full_like(z, b))
        es.append(e)
        off += len(z)
    return torch.cat(zs), torch.cat(edges, 1), torch.cat(batch), torch.stack(es)


class MPNN(nn.Module):
    def __init__(self, dim=32, rounds=2):
        super().__init__()
        self.embed = nn.Embedding(4, dim)
        self.msg = nn.ModuleList(nn.Linear(2 * dim, dim) for _ in range(rounds))
        self.upd = nn.ModuleList(nn.GRUCell(dim, dim) for _ in range(rounds))
        self.readout = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, 1))
        self.register_buffer("shift", torch.tensor(0.0))
        self.register_buffer("scale", torch.tensor(1.0))

    def set_stats(self, energies):
        self.shift.copy_(energies.mean())
        self.scale.copy_(energies.std())

    def forward(self, z, edge, batch, n_graphs):
        h = self.embed(z)
        src, dst = edge
        for msg, upd in zip(self.msg, self.upd):
            m = torch.relu(msg(torch.cat([h[src], h[dst]], 1)))
            h = upd(torch.zeros_like(h).index_add(0, dst, m), h)
        atom = self.readout(h).squeeze(1)
        total = torch.zeros(n_graphs).index_add(0, batch, atom)
        return total * self.scale + self.shift


def save_compact(model):
    """Half-precision checkpoint, half the size on disk."""
    state = {k: v.half() for k, v in model.state_dict().items()}
    buf = io.BytesIO()
    torch.save(state, buf)
    return buf.getvalue()


def train(model, data, epochs, lr, tag):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        order = torch.randperm(len(data)).tolist()
        total = 0.0
        for s in range(0, len(data), 25):
            z, edge, batch, e = collate([data[i] for i in order[s:s + 25]])
            pred = model(z, edge, batch, len(e))
            loss = ((pred - e) / 1.0e4).abs().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(e)
        print(f"{tag} epoch {epoch} MAE {total / len(data):.3f} x 10 kJ/mol")


def main():
    torch.manual_seed(8)
    data = make_molecules(300, seed=8)
    model = MPNN()
    model.set_stats(torch.stack([m[2] for m in data]))
    train(model, data, epochs=4, lr=2e-3, tag="pretrain")
    blob = save_compact(model)
    print(f"checkpoint: {len(blob) / 1024:.0f} KiB")

    resumed = MPNN()
    resumed.load_state_dict(torch.load(io.BytesIO(blob)))
    train(resumed, data, epochs=3, lr=5e-4, tag="finetune")


if __name__ == "__main__":
    main()
