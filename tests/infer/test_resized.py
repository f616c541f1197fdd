"""A buffer that is given another size under another name."""

from __future__ import annotations

from tests.rules.expectations import found

BUFFER = """\
import torch
import torch.nn as nn


class Reader(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.cnn = nn.Conv2d(channels, 8, 3)

    def forward(self, image):
        return self.cnn(image)


def load(buffer, data):
    buffer.data.resize_(data.size()).copy_(data)


reader = Reader(1)
image = torch.FloatTensor(4, 3, 32, 32)
image = image.cuda()


def learn(batches):
    pictures, words = next(batches)
    load(image, pictures)
    return reader(image)


learn(iter([]))
"""


def test_a_buffer_that_is_resized_for_each_batch_has_no_shape_of_its_own() -> None:
    assert found(BUFFER, "SD106") == []


def test_a_buffer_that_keeps_its_size_is_held_to_it() -> None:
    assert [f.code for f in found(BUFFER.replace(".resize_(data.size())", ""), "SD106")] == ["SD106"]
