"""Stages in any order, and the shipped policies."""

import numpy as np
import pytest

from sim.pipeline import path
from sim.pipeline.report import measure
from sim.pipeline.stages import last
from sim.worlds.tasks import HELD
from tests import skips


@pytest.mark.parametrize("name", path.SHIPPED)
def test_a_shipped_policy_is_found_by_its_path_and_settings(name):
    assert path.known(*path.SHIPPED[name]) == name


def test_settings_of_stages_that_a_path_has_not_do_not_matter():
    assert path.known(("base", "sft"), path.Settings(demos=200, L_cache=4)) == "sft"
    assert path.known(("base", "sft", "cot"), path.Settings(demos=200)) is None
    assert path.known(("base", "cot"), path.Settings()) is None


def test_a_checkpoint_is_a_copy():
    one = path.checkpoint("sft")
    one.params["b1"] += 1
    assert not np.array_equal(one.params["b1"], path.checkpoint("sft").params["b1"])


@skips.bands
def test_each_stage_of_a_path_says_its_name_and_ends_at_its_last_step():
    few, policy = path.Settings(cot_steps=150, dpo_steps=10, rl_steps=3), path.checkpoint("base-0")
    for name, steps in dict(cot=150, dpo=10, rft=100, rl=3).items():
        stage, before = last(path.staged(name, policy, 0, few)), policy
        policy = stage.policy
        assert (stage.name, stage.step) == (name, steps)
        assert 0 < measure(policy, before, HELD[:20], 16).kl < 60


def test_weights_that_were_drawn_are_a_beginning():
    (stage,) = path.beginning("init", 3)
    assert stage.name == "init" and measure(stage.policy, None, HELD[:20], 16).pass1 < 0.05


def same(name):
    """The shipped policy and the one made again pass as often, to .02."""
    again = path.with_params(path.made(name))
    assert measure(again).pass1 == pytest.approx(measure(path.checkpoint(name)).pass1, abs=0.02)


def test_borrowed_pairs_train_where_there_are_none_of_its_own():
    *_, end = path.borrowed(path.checkpoint("base-0"), 0, path.Settings(dpo_steps=10))
    assert end.name == "dpo" and end.rows["pairs"] > 300


@pytest.mark.when_changed()
@skips.bands
def test_sft_and_the_thoughts_are_made_again():
    same("sft")
    same("cot")
    same("dpo")


@skips.bands
@pytest.mark.when_changed()
def test_the_base_is_made_again():
    same("base-0")
