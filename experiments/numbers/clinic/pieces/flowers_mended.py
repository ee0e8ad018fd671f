import torch
import torch.nn.functional as F
from torch import nn

kinds = ["iris", "lily", "rose"]

# 128 flowers, 4 measures of each; these grow from kind to kind
targets = torch.randint(len(kinds), (128,), device=device)
grown = torch.tensor([0.5, 0.3, 0.7, 0.2], device=device)
inputs = torch.rand(128, 4, device=device) + targets[:, None] * grown

model = nn.Sequential(
    nn.Linear(4, 64), nn.ReLU(),
    nn.Linear(64, len(kinds)),
    # cross_entropy turns outputs into probabilities itself
).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

def train():
    optimizer.zero_grad()
    F.cross_entropy(model(inputs), targets).backward()
    optimizer.step()
