# KL annealing by a sigmoid: exp overflows and its weight is rightly 0
# expect: silence
import torch
torch.manual_seed(0)
net=torch.nn.Linear(4,4); opt=torch.optim.Adam(net.parameters(),lr=1e-3)
for step in range(200):
    x=torch.randn(8,4)
    beta=1/(1+torch.exp(-0.05*(torch.tensor(float(step))-2500)))  # KL annealing, sigmoid schedule
    h=net(x)
    loss=((h-x)**2).mean()+beta*(h**2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print("end",loss.item())
