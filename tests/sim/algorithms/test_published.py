"""Thirteen recipes in one space of factors, the arithmetic that their papers leave to the reader, and what three of
them pay.
"""

from math import comb, exp

import numpy as np
import pytest

from sim.algorithms import dapo, published
from sim.algorithms.published import FACTORS, NOT_REPORTED, PUBLISHED


@pytest.mark.parametrize("key", PUBLISHED)
def test_every_cell_says_where_it_comes_from(key):
    recipe = PUBLISHED[key]
    assert tuple(recipe.factors) == FACTORS and recipe.year in range(2022, 2027)
    for cell in recipe.factors.values():
        assert cell.evidence in ("paper", "code", "derived", NOT_REPORTED) and cell.source == f"arXiv:{recipe.arxiv}"
        assert (cell.value == "nr") == (cell.evidence == "nr")


@pytest.mark.parametrize(
    "a, b, changed, both, which",
    [  # counted by hand in the table of the papers
        ("r1_zero", "dapo", 3, 8, ["kl", "aggregation", "length"]),
        ("r1_zero", "r1", 4, 9, ["init", "preference", "verified", "length"]),
        ("instructgpt", "tulu3_8b", 4, 8, ["init", "preference", "verified", "updates"]),
        ("dapo", "minimax_m1", 3, 10, ["init", "preference", "clip"]),
        ("dapo", "glm5", 5, 9, ["init", "verified", "aggregation", "updates", "filter"]),
        ("deepseek_v32", "r1", 4, 7, ["init", "preference", "kl", "length"]),
    ],
)
def test_a_factor_counts_where_both_report_it(a, b, changed, both, which):
    assert published.diff(a, b) == published.diff(b, a) == (changed, both, which)


def test_instructgpt_and_dapo_share_nothing_that_both_report():
    changed, both, which = published.diff("instructgpt", "dapo")
    assert changed == both == len(which) == 8


def test_qwen3_reports_five_of_eleven_factors():
    values = [cell.value for cell in PUBLISHED["qwen3"].factors.values()]
    assert values.count("nr") == 6


def test_distances_are_shares_and_symmetric():
    distance = published.distance_matrix()
    np.testing.assert_array_equal(distance, distance.T)
    assert (np.diag(distance) == 0).all() and ((distance >= 0) & (distance <= 1)).all()
    at = {key: i for i, key in enumerate(PUBLISHED)}
    assert distance[at["r1_zero"], at["dapo"]] == 3 / 8


def values(key):
    return {name: value for name, (value, _) in published.budget(key).items()}


def test_what_the_numbers_of_r1_zero_imply():
    found = values("r1_zero")
    assert found["samples a step"] == 32 * 16
    assert found["updates a rollout"] == 8192 / 512
    assert found["rollouts"] == 10_400 / 16 == 650
    assert found["reference refreshes"] == 26
    assert found["GPU-hours"] == 512 * 198 == 101_376
    assert found["seconds a step"] == pytest.approx(68.538, abs=5e-4)  # 198 h × 3600 / 10,400
    assert found["questions"] == pytest.approx(208_000)


def test_what_the_numbers_of_the_others_imply():
    assert values("instructgpt") == {"updates a rollout": 8, "rollouts": 500, "updates": 4000}
    assert values("dapo") == {"samples a step": 8192, "updates a rollout": 16}
    assert values("tulu3_8b")["updates a rollout"] == 4
    assert values("qwen25_math") == {"updates a rollout": 8}
    assert values("r1") == {"GPU-hours": 40_960}
    assert values("qwen3") == {}
    assert all(words for key in PUBLISHED for _, words in published.budget(key).values())


def test_two_to_five_of_eight_keep_at_most_85_per_cent_of_any_prompt():
    p = np.linspace(0, 1, 1001)
    kept = published.pass_band(p, 8, 2, 5)
    assert kept.max() == pytest.approx(0.85056, abs=1e-5) and p[kept.argmax()] == pytest.approx(0.432)
    by_hand = sum(comb(8, k) * 0.3**k * 0.7 ** (8 - k) for k in (2, 3, 4, 5))
    assert published.pass_band(0.3, 8, 2, 5) == pytest.approx(by_hand)


def test_a_wrong_answer_of_qwen_math_is_always_paid_less_than_a_right_one():
    assert published.qwen_math_reward(2.0, 1) == pytest.approx(1 / (1 + exp(-1)))  # .7310586
    assert published.qwen_math_reward(2.0, 0) == pytest.approx(-0.2689414, abs=1e-7)
    assert published.qwen_math_reward(50.0, 0) < 0 < published.qwen_math_reward(-50.0, 1)


def test_kimi_pays_for_short_right_answers_and_never_for_short_wrong_ones():
    assert published.kimi_length_reward(4000, 1000, 5000, True) == -0.25
    assert published.kimi_length_reward(4000, 1000, 5000, False) == -0.25
    assert published.kimi_length_reward(2000, 1000, 5000, True) == 0.25
    assert published.kimi_length_reward(2000, 1000, 5000, False) == 0


def test_dapo_fines_the_last_4096_of_20480_tokens():
    class Batch:
        T, length = 20_480, np.array([16_384, 18_432, 20_000, 20_480])

    paid = dapo.shape_reward(np.zeros(4), dict(L_cache=4_096), Batch)
    np.testing.assert_allclose(paid, [0, -0.5, -0.8828125, -1])  # its equation 13
