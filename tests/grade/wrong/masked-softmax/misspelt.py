# mistake: misspelt-name
import torch

def masked_softmx(scores, lengths):
    return torch.softmax(scores, -1)
