import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# 129 leaves, 16 measures of each, and from which of 8 trees it fell
leaves = torch.rand(129, 16, device=device)
trees = torch.randint(8, (129,), device=device)
fallen = TensorDataset(leaves, trees)
loader = DataLoader(fallen, batch_size=32, shuffle=True)

model = nn.Sequential(
    nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(),
    nn.Linear(64, 8),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train():
    for inputs, targets in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(loader), targets).backward()
        optimizer.step()
