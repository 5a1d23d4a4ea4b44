"""Rounding to the number formats of inference engines: by how much a token's log-prob changes when only the weights are
rounded.

bfloat16 keeps 7 bits after the leading one; e4m3 and e5m2 are the two 8-bit formats of Micikevicius et al. (2022),
arXiv:2209.05433.
"""

import numpy as np

# our arithmetic has 64 bits throughout, so fp32 leaves numbers unchanged
MANTISSA_BITS = {"fp32": None, "bf16": 7, "e4m3": 3, "e5m2": 2}


def cast(x, form):
    """The nearest number with this format's mantissa bits, ties to even."""
    bits = MANTISSA_BITS[form]
    if bits is None:
        return x
    mantissa, exponent = np.frexp(x)
    # assumed: no overflow, no subnormals; engines also scale
    return np.ldexp(np.round(mantissa * 2.0 ** (bits + 1)), exponent - bits - 1)


RANGE = {  # bits after the leading one, smallest normal exponent, largest number: IEEE 754, bfloat16, arXiv:2209.05433
    "bf16": (7, -126, 3.3895313892515355e38),
    "fp16": (10, -14, 65504.0),
    "e4m3": (3, -6, 448.0),
}


def step_at(x, form):
    """The distance between neighboring numbers of a format around x."""
    bits, lowest, _ = RANGE[form]
    _, exponent = np.frexp(x)
    return np.ldexp(1.0, np.maximum(exponent - 1, lowest) - bits)


def rounded(x, form):
    """The nearest number of a format within its range, ties to even: subnormals below the smallest exponent, and above
    the largest number that number itself (saturation, as engines convert to e4m3). float64 in and out.
    """
    largest = RANGE[form][2]
    step = step_at(x, form)
    return np.clip(np.round(x / step) * step, -largest, largest)


def scaled_e4m3(x):
    """e4m3 with one scale for the whole array, chosen so that its largest number becomes 448."""
    scale = np.abs(x).max() / RANGE["e4m3"][2] or 1.0
    return rounded(x / scale, "e4m3") * scale


def cast_params(params, form):
    return {name: cast(array, form) for name, array in params.items()}


def mismatch(policy, batch, form):
    """|log-prob under rounded weights - log-prob| of the own tokens: mean and maximum in nats."""
    rounded = policy.copy()
    rounded.params = cast_params(policy.params, form)
    exact, _, _ = policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    moved, _, _ = rounded.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    distance = np.abs(moved - exact)[batch.response_mask > 0]
    return distance.mean(), distance.max()
