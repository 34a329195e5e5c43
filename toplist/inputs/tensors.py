"""Arrays of other libraries, on this or another device, as numpy arrays."""

from typing import Any

import numpy as np

# Floats that numpy has no type for: float32 holds every one of them exactly.
_NARROW = ("bfloat16", "float8")


def is_tensor(value: Any) -> bool:
    """Whether a value is an array of another library, on this or another device."""
    protocols = ("__dlpack__", "__array__")
    return not isinstance(value, (np.ndarray, np.generic)) and any(
        hasattr(value, name) for name in protocols
    )


def is_row(value: Any) -> bool:
    """Whether a value is an array of numbers, of any library, not a single one."""
    return (isinstance(value, np.ndarray) or is_tensor(value)) and len(
        getattr(value, "shape", ())
    ) > 0


def array(tensor: Any) -> Any:
    """Return a tensor as a numpy array, a view if it is in the host's memory; others unchanged.

    Floats of 8 or 16 bits that numpy has no type for (bfloat16) become float32.
    """
    if not is_tensor(tensor):
        return tensor
    if hasattr(tensor, "to_numpy"):  # a pandas Series or Index
        return tensor.to_numpy()
    if hasattr(tensor, "detach"):  # torch: numbers without their gradients
        tensor = tensor.detach()
    for copying in ("cpu", "get"):  # torch; cupy
        if hasattr(tensor, copying):
            tensor = getattr(tensor, copying)()
            break
    if hasattr(tensor, "float") and _is_narrow(getattr(tensor, "dtype", "")):  # torch
        tensor = tensor.float()
    found = np.asarray(tensor) if hasattr(tensor, "__array__") else np.from_dlpack(tensor)
    return found.astype(np.float32) if _is_narrow(found.dtype) else found  # JAX, TensorFlow


def _is_narrow(dtype: Any) -> bool:
    """Whether a type of numbers is one of `_NARROW`, by whatever library."""
    return str(dtype).removeprefix("torch.").startswith(_NARROW)
