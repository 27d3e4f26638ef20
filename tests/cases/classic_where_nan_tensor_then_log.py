# torch.where(x > 0, x, torch.tensor(nan)), then log, printed
# expect: error
# phase: forward | data
# op: aten::lift_fresh | aten::scalar_tensor | aten::fill_ | aten::where
# line: 11
# cause: nan_constant
import torch


def safe_log(x):
    x = torch.where(x > 0, x, torch.tensor(float("nan")))
    return torch.log(x)


if __name__ == "__main__":
    print(safe_log(torch.tensor([2.0, -1.0, 0.5, -3.0])))
