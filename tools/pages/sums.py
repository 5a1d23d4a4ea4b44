"""One sum over all that a module's results depend on: the files that it needs, and the machine."""

import hashlib
import os
import platform
import sys
from functools import cache

import numpy as np
from numpy._core._multiarray_umath import __cpu_features__ as FEATURES

from tools.pages import inputs

SETTINGS = ("NPY_", "OPENBLAS_", "OMP_")  # beginnings of the variables that choose among numpy's and its BLAS's loops


def digest(*modules):
    """A sum over all that the results of these modules depend on, in hexadecimal."""
    total = hashlib.sha256(machine().encode())
    for file in inputs.closure(*modules):
        total.update(f"{file.relative_to(inputs.ROOT).as_posix()}\0".encode() + inputs.content(file))
    return total.hexdigest()


@cache
def machine():
    """What the last bits depend on besides the code: Python, numpy, the vector instructions that numpy uses, and the
    kernel that its BLAS has chosen, which shows in the bits of a product.
    """
    settings = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(SETTINGS))
    features = sorted(name for name, there in FEATURES.items() if there)
    factor = np.sin(np.arange(160.0 * 96)).reshape(160, 96)
    product = hashlib.sha256((factor.T @ factor).tobytes()).hexdigest()
    return repr((sys.version, platform.machine(), np.__version__, features, settings, product))
