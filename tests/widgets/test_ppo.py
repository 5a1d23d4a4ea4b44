from functools import partial
from unittest.mock import patch

import numpy as np
import pytest

from sim.framework.controller import LOG_RATIO_EDGES
from tests.widgets import catalogue
from widgets import ppo
from widgets.frame import host
from widgets.ppo import Knobs

last = partial(catalogue.last, ppo)


def farthest(**knobs):
    return last(seeds=2, **knobs).kl_step.max()


def panel(title, **knobs):
    """A panel of the default run, drawn as under these knobs."""
    return catalogue.panel(ppo, title, last(), **knobs)


def test_the_textbook_case_holds_and_every_prompt_is_learned():
    assert ppo.broken(Knobs(), last()) is None and last().kl_step.max() < 0.2
    assert last().pass_rate[:, -1].mean(axis=1).min() > 0.95


def test_in_one_pass_the_clip_changes_nothing():
    on, off = last(seeds=2, passes=1), last(seeds=2, passes=1, clip=False)
    np.testing.assert_allclose(on.pass_rate, off.pass_rate, atol=1e-12)
    assert (on.ratio_max == 1).all() and (on.clip_fraction == 0).all()


def test_more_passes_go_farther_in_one_update_without_a_clip_than_with_it():
    without = [farthest(passes=n, clip=False) for n in (1, 2, 4)]
    assert without == sorted(without)
    assert all(farthest(passes=n, clip=False) > 2 * farthest(passes=n) for n in (2, 4, 16))


def test_more_passes_do_not_bring_the_update_nearer():
    with_clip = [farthest(passes=n) for n in (1, 4, 16)]
    assert with_clip == sorted(with_clip)


def test_the_clip_does_not_keep_ratios_in_its_range():
    assert last().ratio_max.max() > 1.2 and last(passes=16).ratio_max.max() > 3
    assert last(passes=16).kl_step.max() < 0.18


@pytest.mark.parametrize("passes, breaks", [(2, False), (4, True), (16, True)])
def test_without_a_clip_the_break_lies_between_two_and_four_passes(passes, breaks):
    result = last(seeds=2, passes=passes, clip=False)
    assert (
        (ppo.broken(Knobs(passes=passes, clip=False), result) is not None)
        == breaks
        == (ppo.watched(Knobs(), result).value > ppo.NATS)
    )


def test_the_break_says_how_far_and_at_what_cost():
    found = ppo.broken(Knobs(passes=16, clip=False), last(passes=16, clip=False))
    assert found.why.startswith("16 passes") and "16.3 nats" in found.why and "3 of 6 runs lost a prompt" in found.why
    assert found.mend == "Clip: on."


@pytest.mark.parametrize(
    "broken, mend",
    [
        (dict(passes=16, clip=False), dict(clip=True)),
        (dict(passes=16, eps_high=5.0), dict(eps_high=0.2)),
        (dict(learning_rate=60.0, seed=7), dict(learning_rate=20.0)),
        (dict(passes=16, eps_low=1.0, learning_rate=60.0), dict(eps_low=0.2, learning_rate=20.0)),
    ],
)
def test_the_way_back_leads_back(broken, mend):
    words = ppo.broken(Knobs(**broken), last(seeds=2, **broken)).mend
    for knob, value in mend.items():
        title = Knobs.__dataclass_fields__[knob].metadata["label"]
        assert f"{title}: {'on' if value is True else f'{value:g}'}" in words
    assert words.count(":") == len(mend)
    assert ppo.broken(Knobs(**{**broken, **mend}), last(seeds=2, **{**broken, **mend})) is None


def test_without_a_clip_the_first_updates_are_faster():
    assert last(seeds=2, clip=False).pass_rate[:, 9].mean() > last(seeds=2).pass_rate[:, 9].mean() + 0.1


def test_a_wider_range_lets_an_update_go_farther():
    wide = [farthest(eps_high=high) for high in (0.2, 0.28, 5.0)]
    assert wide == sorted(wide) and farthest(passes=16, eps_high=5.0) > ppo.NATS
    assert farthest(eps_low=1.0) > farthest()


def test_the_learning_rate_moves_the_distance_of_an_update():
    far = [farthest(learning_rate=rate) for rate in (1.0, 20.0, 60.0)]
    assert far == sorted(far)


def test_switching_the_critic_off_changes_the_run_and_on_this_task_does_not_hurt():
    assert last(seeds=2, critic=False).pass_rate[:, -1].mean() > last(seeds=2).pass_rate[:, -1].mean() > 0.98


def test_the_dual_clip_changes_the_one_cell_without_a_bound():
    loss = {dual: panel("Loss of one token", dual_clip=dual)["data"][2]["y"] for dual in ("off", "3", "1.5")}
    assert (
        loss["off"].max() == pytest.approx(4)
        and loss["3"].max() == pytest.approx(3)
        and loss["1.5"].max() == pytest.approx(1.5)
    )


def test_two_of_the_six_cells_are_dead():
    data = panel("Its slope, dL/dρ")["data"]
    np.testing.assert_allclose(data[1]["y"], [-1, -1, 0], atol=1e-12)
    np.testing.assert_allclose(data[3]["y"], [0, 1, 1], atol=1e-12)


def test_the_histogram_holds_all_tokens_and_at_one_pass_only_the_ratio_one():
    assert sum(panel("Ratios at the last pass")["data"][0]["y"]) == pytest.approx(100)
    counts = last(seeds=2, passes=1).log_ratios
    assert counts[10] == counts.sum() and LOG_RATIO_EDGES[10] < 0 < LOG_RATIO_EDGES[11]


def test_another_seed_draws_six_other_runs():
    assert (last(seeds=2, seed=5).kl_step != last(seeds=2).kl_step).all()


def test_the_run_streams_and_counts_its_updates():
    knobs = Knobs(clip=False)
    with patch.object(ppo, "SEEDS", 1):
        seen = list(ppo.run(knobs))
    assert [ppo.progress(knobs, r) for r in seen] == [["update", n, 60] for n in (1, *range(4, 61, 4))]
    is_broken = [ppo.broken(knobs, r) is not None for r in seen]
    assert is_broken == sorted(is_broken) and not is_broken[0] and is_broken[-1]  # once certain it stays


def test_every_preset_streams_and_one_of_them_is_broken():
    broken = {name: ppo.broken(k, last(seeds=2, **k.__dict__)) is not None for name, k in ppo.PRESETS.items()}
    assert [name for name, is_broken in broken.items() if is_broken] == ["16 passes, no clip"]
    assert next(iter(ppo.PRESETS.values())) == Knobs()


def test_the_first_tab_shows_the_threshold():
    first = next(host.stream("ppo"))
    assert '"breaks above 1 nat"' in first and first.index('"Training"') < first.index('"Ratios"') < first.index(
        '"One token"'
    )
