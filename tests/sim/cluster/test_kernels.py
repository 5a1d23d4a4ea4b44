import numpy as np
import pytest

from sim.cluster import kernels
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.kernels import Workload
from sim.cluster.models import MODELS

QWEN, H100 = MODELS["qwen2.5-7b"], ACCELERATORS["h100"]
AGENTS = Workload(8192, 8192, 16, 2, turns=20, rollout=0.70, logp=0.06, train=0.10, sync=0.04)


def named(found):
    return {s.name: s for s in found}


def test_amdahl():
    assert kernels.amdahl(0.5, 2) == pytest.approx(4 / 3) and kernels.amdahl(0.3, float("inf")) == pytest.approx(
        1 / 0.7
    )


@pytest.mark.parametrize(
    "spread, batch, expected", [(1.0, 8, 2.656499), (0.5, 8, 1.829623), (0.0, 8, 1.0), (1.0, 1, 1.0)]
)
def test_padding_is_the_expected_longest_over_the_mean(spread, batch, expected):
    assert kernels.padding(spread, batch) == pytest.approx(expected, abs=1e-4)
    s = np.sqrt(np.log(1 + spread**2))
    drawn = np.random.default_rng(0).lognormal(-s * s / 2, s, (400_000, batch)).max(1)
    assert drawn.mean() == pytest.approx(expected, rel=0.01)


def test_the_default_s_returns():
    # the specification's, computed apart: memory .0329, packing .0291, prefix .0240, sync .0123, log-prob .0009
    found = kernels.surfaces()
    by_week = [round(s.by_week, 4) for s in found]
    assert by_week == [0.0240, 0.0009, 0.0291, 0.0123, 0.0329, 0.0]
    assert kernels.ranked(found)[:2] == ["paged memory", "packing"]


def test_prefix_attention_s_share_by_hand():
    # 16 groups of 16, 1,024 + 2,048 tokens of 57,344 bytes; 4,096 tokens; 2 P bytes of weights; prefill at 40 %
    P, W, F = QWEN.params(), H100.hbm_bytes_per_second, H100.flops()
    read = 4096 * 256 * 3072 * 57_344 / W
    seconds = read + 4096 * 2 * P / W + 2 * P * 256 * 1024 / (0.4 * F)
    assert kernels.surfaces()[0].share == pytest.approx(0.70 * read / seconds)


def test_agents_keep_the_cache_between_turns_first():
    # the specification's: F .534, s 15.13, S 1.996
    one = named(kernels.surfaces(work=AGENTS))["cache kept between turns"]
    assert (one.share, one.speedup) == pytest.approx((0.534, 15.13), rel=1e-3)
    assert kernels.amdahl(one.share, one.speedup) == pytest.approx(1.996, abs=2e-3)
    assert kernels.ranked(kernels.surfaces(work=AGENTS))[0] == "cache kept between turns"


def test_a_slow_sync_comes_first():
    work = Workload(rollout=0.50, sync=0.25)
    one = named(kernels.surfaces(work=work))["weight sync"]
    assert kernels.amdahl(one.share, one.speedup) == pytest.approx(1 / (0.75 + 0.25 / 64))
    assert kernels.ranked(kernels.surfaces(work=work))[0] == "weight sync"


def test_short_prompts_leave_prefix_attention_fourth():
    found = kernels.surfaces(work=Workload(256, 8192, 16, 8))
    assert 100 * found[0].gain == pytest.approx(2.6, abs=0.05)
    assert kernels.ranked(found).index("prefix attention") == 3


def test_what_is_bought_leaves_the_product_of_what_is_left():
    found = kernels.surfaces()
    steps, after = kernels.bought(found, ["packing", "weight sync"])
    left = 1 - (0.14 * (1 - 1 / found[2].speedup)) - 0.05 * (1 - 1 / 64)
    assert steps[-1] == pytest.approx(left) and steps[0] == 1
    # a share that was not touched is larger of a shorter step
    assert after[0].share == pytest.approx(found[0].share / left)
    assert kernels.ranked(after).count("packing") == 0


def test_the_order_of_purchases_does_not_matter_for_what_is_left_at_the_end():
    found = kernels.surfaces()
    names = kernels.best_first(found)
    ends = [kernels.bought(found, order)[0][-1] for order in (names, names[::-1])]
    # prefix attention and paging work on the same share; the page treats what they save as apart
    assert ends[0] == pytest.approx(ends[1])


def test_twenty_four_prompts_do_not_fit_unless_each_is_kept_once():
    # 2 · 7 615 616 512 + 24 · 16 · 3072 · 57 344; with the prompt once: 24 · (1024 + 16 · 2048) tokens
    weights = 2 * 7_615_616_512
    needs, room, running = kernels.fits(QWEN, H100, Workload(groups=24))
    assert needs == weights + 24 * 16 * 3072 * 57_344 and room == 72e9 and running == 322
    needs, _, running = kernels.fits(QWEN, H100, Workload(groups=24), shared=True)
    assert needs == weights + 24 * (1024 + 16 * 2048) * 57_344 and running == 384
