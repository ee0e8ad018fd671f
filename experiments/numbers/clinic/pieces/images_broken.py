import torch
import torch.nn.functional as F
from torch import nn

kinds = ["ant", "bee", "cat", "dog" "eel", "fox", "gnu", "hen"]

# 64 pictures of 32 x 32 pixels in 3 colours, and what each one shows
inputs = torch.randint(256, (64, 3, 32, 32), device=device)
targets = torch.randint(8, (64,), device=device)

model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(64 * 16 * 16, len(kinds)),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train():
    optimizer.zero_grad()
    F.cross_entropy(model(inputs), targets).backward()
    optimizer.step()
