import torch
import torch.nn.functional as F
from torch import nn

# `device` and `length`, how many words are read, come from the settings.
words = 5001
width = 511

text = torch.randint(words, (length,), device=device)
inputs, targets = text[:-1], text[1:]  # after each word comes the next one

model = nn.Sequential(
    nn.Embedding(words, width),
    nn.Linear(width, words),
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train():
    optimizer.zero_grad()
    F.cross_entropy(model(inputs), targets).backward()
    optimizer.step()
