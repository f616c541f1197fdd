"""What libraries make that is no tensor: plots, tables, files, optimisers."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["makes_no_tensor"]

# Packages none of whose functions makes a tensor.
_PACKAGES = frozenset(
    [
        *("matplotlib", "seaborn", "plotly", "pandas", "polars", "PIL", "wandb", "mlflow", "tensorboardX", "soundfile"),
        *("json", "pickle", "csv", "os", "sys", "logging", "time", "random", "warnings", "pprint", "re", "inspect"),
        *("pathlib", "argparse", "unittest", "pytest", "calflops", "thop", "fvcore", "torchinfo", "torchsummary"),
    ]
)
_MODULES = ("torch.optim.", "torch.utils.data.", "torch.utils.tensorboard.", "numpy.testing.", "torch.testing.assert_")
_FUNCTIONS = frozenset(
    [
        *("numpy.save", "numpy.savez", "numpy.savez_compressed", "numpy.savetxt", "numpy.shape", "numpy.size"),
        *("torch.save", "torch.autograd.backward", "torch.onnx.export", "torchvision.utils.save_image"),
        *("torch.distributed.all_reduce", "torch.distributed.broadcast", "torchaudio.save"),
        *("scipy.io.wavfile.write", "safetensors.torch.save_file", "collections.Counter"),
    ]
)


@lru_cache(maxsize=1024)
def makes_no_tensor(qualified: str) -> bool:
    """Whether it is known of a library's function that what it makes is no tensor."""
    root = qualified.partition(".")[0]
    return root in _PACKAGES or qualified in _FUNCTIONS or qualified.startswith(_MODULES)
