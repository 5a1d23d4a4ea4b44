"""The numbers of the lesson on the trainer, recomputed."""

import re
from functools import partial
from urllib.parse import parse_qsl

import numpy as np
import pytest

from sim.estimators import aggregation
from sim.worlds.tinylm import Policy
from tests.lessons.prose import Lesson
from tests.sim.estimators.test_aggregation import MASK, losses
from tests.widgets import catalogue
from widgets import trainer
from widgets.frame import host
from widgets.trainer import Knobs

LESSON = Lesson("05")


last = partial(catalogue.last, trainer)


def final(**knobs):
    return last(**knobs).pass_rate[-1]


def test_one_batch_has_four_losses_and_the_table_shows_them():
    on_policy = losses(moved=0 * MASK)[0]
    for name, weights in aggregation.MODES.items():
        w = weights(MASK)
        row = next(line for line in LESSON.text.splitlines() if line.startswith(f"| `{name}` |"))
        share, loss = row.strip("| ").split(" | ")[-2:]
        top, bottom = map(int, share.split("/"))
        assert w[1].sum() / w.sum() == pytest.approx(top / bottom, abs=1e-12)
        assert float(loss) == pytest.approx((w * on_policy).sum(), abs=5e-4)
    LESSON.says("0.125", (aggregation.token_mean(MASK) * on_policy).sum())
    LESSON.says("0.333", (aggregation.seq_mean_token_sum(MASK) * on_policy).sum())


def test_from_the_sampled_token_to_its_logits():
    pi = np.exp([1, 0, -1]) / np.exp([1, 0, -1]).sum()
    for said, value in zip(("−0.670", "0.489", "0.180"), 2 * (pi - [1, 0, 0])):
        LESSON.says(said, value)


def test_the_size_of_the_policy():
    LESSON.says("8,708", sum(array.size for array in Policy().params.values()))


def test_the_local_means():
    loss = losses(moved=0 * MASK)[0]
    assert MASK.sum(axis=1).tolist() == [2, 5, 1]
    LESSON.says("0.125", (aggregation.token_mean(MASK) * loss).sum())
    LESSON.says("−1", loss[0].sum() / 2)
    LESSON.says("0.5", loss[1:].sum() / 6)
    LESSON.says("−0.25", (loss[0].sum() / 2 + loss[1:].sum() / 6) / 2)


def test_the_default_run():
    LESSON.says("0.329", last().start)
    LESSON.says("0.915", final())
    assert max(map(abs, last().loss)) < 1e-15 and "7 × 10⁻¹⁷" in LESSON.text
    for cut in ("off", "0.1"):
        assert final(max_norm=cut) == pytest.approx(0.915, abs=5e-4)


def test_the_token_mean():
    LESSON.says("0.076", last(mode="token-mean").loss[0])
    assert max(map(abs, last(mode="token-mean").loss[1:])) < 0.040
    LESSON.says("0.904", final(mode="token-mean"))
    assert np.ptp([final(mode=mode) for mode in aggregation.MODES]) < 0.02


def test_the_learning_rates():
    for said, rate in (("0.793", 0.003), ("0.928", 0.03), ("0.875", 0.05), ("0.193", 0.1)):
        LESSON.says(said, final(learning_rate=rate))
    assert final(learning_rate=0.3) < 1e-4
    LESSON.says("0.251", last(learning_rate=0.1).entropy[8])
    LESSON.says("0.066", np.mean(last(learning_rate=0.1).entropy[40:]))
    assert (
        sum(norm < 1e-3 for norm in last(learning_rate=0.1).grad_norm)
        > 10
        > sum(norm < 1e-3 for norm in last().grad_norm)
    )


def test_the_micro_batches():
    local = dict(mode="token-mean", micro=4, divisor="its own count")
    LESSON.says("30.8", 100 * last(**local).first.now)
    LESSON.says("0.964", last(**local).first.cosine)
    LESSON.says("0.917", final(**local))
    LESSON.says("4.8", 100 * last(**local, by_length=False).first.now)
    assert final(mode="token-mean", seed=1) > final(**local, seed=1)  # the other way round


def test_the_memory_of_the_logits():
    LESSON.says("2.49", 4096 * 151936 * 4 / 1e9)
    LESSON.says("16", 4096 * 4 / 1000)


def test_the_answers():
    dr = dict(mode="seq-mean-token-sum-norm", advantage="reward − mean", max_norm="off")
    sgd = dict(optimizer="SGD", learning_rate=0.3)
    LESSON.says("0.822", final(scale=10.0, **sgd, **dr))
    LESSON.says("0.627", final(**sgd, **dr))
    LESSON.says("0.917", final(scale=10.0, **dr))
    LESSON.says("0.920", final(**dr))


def test_the_links_of_the_prose_start_at_the_default_and_two_of_them_break():
    links = re.findall(r'\(#trainer\)\{ data-knobs="([^"]+)" \}', LESSON.text)
    settings = [host.knobs_from(Knobs, dict(parse_qsl(link))) for link in links]
    assert settings[0] == Knobs()
    assert [trainer.broken(k, last(**k.__dict__)) is not None for k in settings] == [
        False,
        False,
        False,
        True,
        True,
        False,
    ]
