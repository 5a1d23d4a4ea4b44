"""The scene of the front page: what it says of two runs is so, and it names no line before it is asked."""

import re

import numpy as np
import pytest

from sim.experiments import deleted_line
from sim.worlds import tasks, tinylm
from tools.pages import fences, hero, link_previews, results
from widgets.ppo import figures

RESTS = (0, 1, 2, 3, 4, figures.UPDATES)


def rings(panel):
    marks = [mark for column in panel["columns"] for view in column for mark in view["marks"]]
    return [mark["words"] for mark in marks if mark["kind"] == "ring" and mark["seen"]]


def test_both_runs_begin_with_one_model_and_the_same_answers():
    with_line, without_line = (figures.sums(name)[0] for name in figures.LINE)
    assert with_line == without_line
    assert with_line.pass_rate == pytest.approx(tasks.exact_pass(tasks.checkpoint("add")).mean())


@pytest.mark.parametrize("name", figures.LINE)
@pytest.mark.parametrize("i", RESTS)
def test_the_sums_that_are_right_are_as_many_as_the_exact_rate_says_within_one(name, i):
    sums = figures.sums(name)[i]
    assert len(sums.right) == len(deleted_line.SUMS) == 8
    assert abs(sum(sums.right) - 8 * sums.pass_rate) <= 1


def test_an_answer_is_right_if_it_says_the_sum_and_stops():
    for name in figures.LINE:
        for sums in figures.sums(name):
            for pair, row, right in zip(deleted_line.SUMS, sums.rows, sums.right):
                text = tinylm.decode(row)
                assert right == (re.sub("hmm ", "", text) == f"Final: {pair // 10 + pair % 10}<eos>")


def test_without_the_line_a_model_that_had_learned_more_than_half_is_lost_for_good():
    deleted = [sums.pass_rate for sums in figures.sums("deleted")]
    kept = [sums.pass_rate for sums in figures.sums("kept")]
    assert deleted[figures.BEFORE] > 0.5 and max(deleted[figures.RUINED :]) < 0.01
    assert min(kept[1:]) > 0.4 and kept[-1] > 0.7


def test_the_ring_stands_where_the_ruin_is_and_nowhere_else():
    for name in figures.LINE:
        for i in figures.LOOKED:
            words = rings(figures.deleted(name, i)[0])
            assert words == (["no sum is right any more"] if name == "deleted" and i >= figures.RUINED else [])
            assert not words or not any(figures.sums(name)[i].right)


def test_the_sentences_count_what_is_drawn():
    for (panel,), sentence, word in results.positions("ppo", "deleted"):
        counts = [view["alt"].partition(": ")[2].split()[0] for column in panel["columns"] for view in column]
        assert counts[1] in sentence and panel["columns"][1][0]["alt"].startswith(word)
        if "none comes back" in sentence:
            assert sentence.startswith(f"{counts[0].capitalize()} of the eight were right after 2 updates")


def test_a_text_is_what_the_model_wrote_as_far_as_there_is_room():
    assert figures.as_text((tinylm.FINAL, 7, tinylm.EOS)) == "Final: 7■"
    assert figures.as_text((9, 0, 0, 0, 0, 0, 0, 0)) == "90000000"
    assert figures.as_text((tinylm.HMM,) * 8) == "hmm hmm hmm h…"


def test_other_runs_without_the_line_are_ruined_too_or_at_least_worse():
    """Seeds 0 and 2, beside the one that is drawn: the rate after eight updates, without the line and with it."""
    ends = []
    for seed in (0, 2):
        controller = deleted_line.controller(True, seed)
        for _ in controller.frames(8):
            pass
        ends.append(float(tasks.exact_pass(controller.trainer.policy).mean()))
    assert np.all(np.array(ends) < 0.45)


def test_the_front_page_names_no_line_before_it_is_asked_and_then_leads_to_its_lesson():
    open_part, folded = fences.two_lines("all", "hero", "hero", {}, None).split("<details", 1)
    assert 'data-scene="ppo.deleted"' in open_part and "data-play" in open_part
    plain = (
        re.sub(r"<template>.*?</template>", "", open_part, flags=re.S).replace('"ppo.deleted"', "").replace("-ppo-", "")
    )
    assert not re.search(r"\bclip|\bratio|passes|PPO", plain)
    assert "The clip of PPO" in folded and 'href="/10-ppo/"' in folded


def test_the_picture_beside_links_is_the_same_scene():
    assert link_previews.at_rest(*hero.FRONT)["title"].startswith("A language model learns sums")
