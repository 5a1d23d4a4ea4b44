"""What the GPUs of one job send each other: seconds of all-reduce, all-gather and all-to-all.

Closed form: a start-up time plus bytes over bandwidth. Inside the scale-up domain there are rings and one-shot
exchanges, as in NCCL and the engines (2026). Across domains an all-reduce takes three steps, inside, across, inside, as
NCCL's trees and the hierarchical kernels do. Congestion is left out, and so is the fact that arithmetic and exchange
share the chip.
"""

from math import ceil, log2

import numpy as np

from sim.cluster.hardware import Accelerator
from sim.cluster.models import Numbers

ALPHA = 3e-6  # assumed: seconds to start one message of a ring inside the scale-up domain
ALPHA_ACROSS = 10e-6  # assumed: the same over the NIC
# assumed: seconds of a one-shot all-reduce, without its bytes; about 6 µs are reported for two H100s, more for eight
# (github.com/NVIDIA/nccl, issue 1259)
ALPHA_ONE_SHOT = 8e-6
# assumed: start of an all-to-all inside the domain and across it, and its share of the links. With these, the
# table in DeepEP's README (2025) for 16 to 128 GPUs and 128 tokens is met within 6 % for dispatch and 9 % for combine
ALPHA_ALL_TO_ALL = 15e-6
ALPHA_ALL_TO_ALL_ACROSS = 20e-6
ALL_TO_ALL_SHARE = 0.8


def all_reduce(n: int, size: Numbers, accelerator: Accelerator) -> Numbers:
    """Seconds to sum `size` bytes over n ranks, by the faster of two ways: a ring, which sends little but often, or one
    shot, in which every rank sends everything to all others. Across scale-up domains the second way is `in_levels`.
    """
    link = accelerator.ring_bytes_per_second(n)
    if n > accelerator.scaleup_domain:
        return np.minimum(ring_all_reduce(n, size, link, ALPHA_ACROSS), in_levels(n, size, accelerator))
    if n == 1:
        return 0.0 * size
    one_shot = ALPHA_ONE_SHOT + (n - 1) * size / link
    return np.minimum(ring_all_reduce(n, size, link), one_shot)


def ring_all_reduce(n: int, size: Numbers, bytes_per_second: float, alpha: float = ALPHA) -> Numbers:
    """Seconds to sum `size` bytes over n ranks in a ring, 2(n − 1)(α + size / (n B)): every rank sends 2(n − 1)/n of
    the buffer.
    """
    return 2 * (n - 1) * (alpha + size / (n * bytes_per_second))


def in_levels(n: int, size: Numbers, accelerator: Accelerator) -> Numbers:
    """The same across domains of g ranks: each domain reduces and scatters, then every rank sums its g-th part over the
    n/g domains in a tree, and each domain gathers. It sends 2(g − 1)/g of the buffer inside and 2(1 − g/n)/g over each
    NIC.
    """
    g = accelerator.scaleup_domain
    inside = 2 * (g - 1) / g * size / accelerator.ring_bytes_per_second(g)
    across = 2 * (1 - g / n) * size / (g * 1e9 * accelerator.nic_gb_per_second)
    return ALPHA_ONE_SHOT + inside + 2 * ceil(log2(n / g)) * ALPHA_ACROSS + across


def all_gather(n: int, size: Numbers, accelerator: Accelerator) -> Numbers:
    """Seconds until each of n ranks in one domain has all `size` bytes, of which it holds an n-th; a reduce-scatter of
    `size` bytes takes as long.
    """
    if n == 1:
        return 0.0 * size
    sent = (n - 1) / n * size / accelerator.ring_bytes_per_second(n)
    return np.minimum((n - 1) * ALPHA, ALPHA_ONE_SHOT) + sent


def all_to_all(n: int, out: Numbers, accelerator: Accelerator) -> Numbers:
    """Seconds for each of n ranks to send `out` bytes in equal parts to every rank, including itself."""
    g = accelerator.scaleup_domain
    if n == 1:
        return 0.0 * out
    inside = out * (min(n, g) - 1) / n / (ALL_TO_ALL_SHARE * accelerator.ring_bytes_per_second(min(n, g)))
    if n <= g:
        return ALPHA_ALL_TO_ALL + inside
    across = out * (n - g) / n / (ALL_TO_ALL_SHARE * 1e9 * accelerator.nic_gb_per_second)
    return ALPHA_ALL_TO_ALL_ACROSS + np.maximum(inside, across)


def expert_exchange(
    n: int, token_bytes: float, tokens: Numbers, top_k: int, accelerator: Accelerator, most: int | None = None
) -> Numbers:
    """Seconds to send `tokens` tokens of each rank to their top_k experts on n ranks, as training kernels do. A token
    crosses once to each domain that has one of its experts, m(1 − (1 − 1/m)^k) of m domains on average (at most `most`
    if the router is limited), and is distributed inside. DeepEP's normal kernels (2025).
    """
    g = accelerator.scaleup_domain
    out = tokens * token_bytes * top_k
    if n <= g:
        return all_to_all(n, out, accelerator)
    domains = n / g
    # assumed: routing is uniform over the domains
    visited = min(domains * (1 - (1 - 1 / domains) ** top_k), most or domains)
    inside = out * (g - 1) / g / (ALL_TO_ALL_SHARE * accelerator.ring_bytes_per_second(g))
    across = tokens * token_bytes * visited * (domains - 1) / domains
    return ALPHA_ALL_TO_ALL_ACROSS + np.maximum(
        inside, across / (ALL_TO_ALL_SHARE * 1e9 * accelerator.nic_gb_per_second)
    )
