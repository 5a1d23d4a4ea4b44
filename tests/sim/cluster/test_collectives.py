"""Collectives against closed forms and a published table."""

import pytest

from sim.cluster import collectives
from sim.cluster.hardware import ACCELERATORS

H100 = ACCELERATORS["h100"]


def test_a_ring_sums_in_the_time_of_its_closed_form():
    assert 1e3 * collectives.ring_all_reduce(8, 1e9, 450e9, 3e-6) == pytest.approx(
        3.930889, rel=1e-6
    )  # 2 · 7 · (3 µs + 1e9 / (8 · 450e9))
    assert collectives.ring_all_reduce(1, 1e9, 450e9) == 0


@pytest.mark.parametrize("n, microseconds", [(2, 6.0182), (4, 8.0546), (8, 8.1274)])
def test_a_small_message_goes_in_one_shot_where_a_ring_has_many_hops(n, microseconds):
    # 8 kB: 2 (3 µs + 8192 / (2 · 450e9)); 8 µs + (n − 1) 8192 / 450e9. A ring of 4 takes 18.03, of 8 42.03 µs
    assert 1e6 * collectives.all_reduce(n, 8192.0, H100) == pytest.approx(microseconds, abs=5e-4)


def test_a_large_message_goes_around_the_ring():
    # 14 (3 µs + S / 8B) = 8 µs + 7 S / B at S = 34 µs · 450e9 / 5.25 = 2.914 MB
    small, large = 2.91e6, 2.92e6
    assert collectives.all_reduce(8, small, H100) < collectives.ring_all_reduce(8, small, 450e9)
    assert collectives.all_reduce(8, large, H100) == collectives.ring_all_reduce(8, large, 450e9)
    assert collectives.all_reduce(1, large, H100) == 0


def test_across_the_domain_a_small_message_goes_in_across_and_in():
    # 8 µs + 2 · 7/8 · 8192 / 450e9 + 2 · 10 µs + 2 · 1/2 · 8192 / (8 · 50e9); a ring of 16 has 30 hops of 10 µs
    assert 1e6 * collectives.all_reduce(16, 8192.0, H100) == pytest.approx(28.0523, abs=1e-3)
    assert collectives.all_reduce(16, 8192.0, H100) < collectives.ring_all_reduce(16, 8192.0, 400e9, 10e-6)


@pytest.mark.parametrize("n, size, microseconds", [(16, 524_288, 31.35), (32, 917_504, 55.01)])
def test_an_all_reduce_over_two_and_four_servers(n, size, microseconds):
    # by hand: 8 + 2.039 + 20 + 1.311 µs; 8 + 3.568 + 40 + 3.441 µs
    assert 1e6 * collectives.all_reduce(n, float(size), H100) == pytest.approx(microseconds, abs=5e-3)


def test_a_gather_is_half_a_ring():
    assert 2 * collectives.all_gather(2, 1e9, H100) == pytest.approx(collectives.ring_all_reduce(2, 1e9, 450e9))
    assert collectives.all_gather(1, 1e9, H100) == 0


# DeepEP's README of 2025, low-latency kernels on H800 with a NIC of 50 GB/s: 128 tokens, 8 experts each, hidden 7168,
# fp8 out and bf16 back
@pytest.mark.parametrize(
    "n, dispatch, combine", [(16, 118, 195), (32, 155, 273), (64, 173, 314), (128, 192, 369)], ids=lambda v: str(v)
)
def test_an_all_to_all_takes_about_what_deepep_published(n, dispatch, combine):
    out = 128 * 8 * 7168
    assert 1e6 * collectives.all_to_all(n, float(out), H100) == pytest.approx(dispatch, rel=0.06)
    assert 1e6 * collectives.all_to_all(n, 2.0 * out, H100) == pytest.approx(combine, rel=0.09)


def test_a_token_crosses_once_to_each_domain_that_it_visits():
    # two domains, two experts: 2 (1 − 1/4) = 1.5 domains, half of them elsewhere; plain copies would cross once each
    tokens, size = 10_000.0, 14_336.0
    seconds = collectives.expert_exchange(16, size, tokens, 2, H100)
    assert seconds == pytest.approx(20e-6 + tokens * size * 0.75 / (0.8 * 50e9))
    assert seconds < collectives.all_to_all(16, 2 * tokens * size, H100)
    assert collectives.expert_exchange(8, size, tokens, 2, H100) == collectives.all_to_all(8, 2 * tokens * size, H100)
