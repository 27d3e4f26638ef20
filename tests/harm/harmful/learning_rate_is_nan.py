# error parameter
import torch


def main():
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    rates = [0.1, 0.1, 0.1, float("nan")]  # of a schedule that ends in 0 / 0
    for rate in rates:
        for group in opt.param_groups:
            group["lr"] = rate
        loss = net(torch.ones(2, 3)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(net(torch.ones(1, 3)).argmax())


main()
