# A package of AOTInductor holds no graph: it is told that the package made it, never for certain
# expect: error
# backend: inductor
# phase: forward
# op: torch.compile
# line: 21
# cause: unwatched_kernel
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.log(x.relu())


exported = torch.export.export(Net(), (torch.ones(4),))
package = torch._inductor.aoti_compile_and_package(exported, package_path="net.pt2")
net = torch._inductor.aoti_load_package(package)
weight = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
loss = (net(torch.zeros(4)) * weight).sum()
loss.backward()
optimizer.step()
