"""The pictures of lesson 00 show what was computed, and claim no more."""

import pytest

from sim.experiments import running_batch
from sim.worlds import modsum
from tests.widgets.catalogue import marks
from tools.pages import results
from widgets.frame.drawing import answers
from widgets.orientation import figures, widget

PROMPT = running_batch.PROMPT


def rings(panel):
    return [mark["words"] for mark in marks(panel, "ring") if mark["seen"]]


@pytest.mark.parametrize("name", figures.SETTINGS)
@pytest.mark.parametrize("i", figures.ROUNDS)
def test_the_rows_that_are_right_are_as_many_as_the_exact_rate_says_within_one(name, i):
    twins, margin = figures.asked(name)[i], 1 if i in (0, 3, 60) else 1.2
    for rows, rate in ((twins.sampled, twins.sampled_rate), (twins.trained, twins.trained_rate)):
        assert len(rows) == 8 and max(map(len, rows)) <= answers.SHORT, "none is cut"
        assert abs(answers.right(rows, PROMPT) - 8 * rate) <= margin


def test_the_log_of_one_setting_shows_the_model_and_that_of_the_other_never_changes():
    plain, other = map(figures.asked, figures.SETTINGS)
    assert plain[0] == other[0]
    assert all(now.sampled == now.trained for now in plain)
    assert all(now.sampled == other[0].sampled for now in other) and other[-1].trained != other[0].trained


def test_the_ring_stands_where_the_log_shows_the_untrained_model_and_nowhere_else():
    untrained = figures.asked("without it")[0].trained
    for name in figures.SETTINGS:
        for i in figures.ROUNDS:
            words = rings(figures.two_copies(name, i)[0])
            assert words == ([figures.OLD] if name == "without it" and i else [])
            assert not words or figures.asked(name)[i].sampled == untrained


def test_a_reward_is_written_beside_every_row_and_is_that_of_its_sum():
    for i in (0, 60):
        panel = figures.two_copies("without it", i)[0]
        paid = [mark["text"] for mark in marks(panel, "word") if "reward" in mark["role"].split()]
        twins = figures.asked("without it")[i]
        for reward, row in zip(paid, [*twins.sampled, *twins.trained], strict=True):
            total = sum(token + 1 for token in row if token != modsum.EOS)
            assert reward == str(int(row[-1] == modsum.EOS and total in (5, 12, 19)))


def test_the_four_lines_add_to_the_picture_one_after_the_other():
    words = {}
    for line in figures.LINES:
        (panel,) = figures.four_lines(line)
        words[line] = {mark["key"]: mark["text"] for mark in marks(panel, "word") if mark["key"] and mark["text"]}
    keys = [set(words[line]) for line in figures.LINES]
    assert keys[0] < keys[1] <= keys[2] < keys[3]
    assert [words[figures.SCORED][f"r{i}"] for i in range(4)] == ["1", "0", "1", "0"]
    assert [words[figures.SCORED][f"s{i}"] for i in range(4)] == ["= 5", "= 2", "= 12", "= 3"]


def test_the_hundred_answers_are_the_exact_rate_before_and_after_the_step():
    before, after = modsum.exact(modsum.Policy().params["theta"])["pass_rate"][PROMPT], figures.stepped()[1]
    for line, rate in zip(figures.LINES, (before, before, after, after)):
        (dots,) = marks(figures.four_lines(line)[0], "hundred")
        assert dict(dots["shares"])["followed"] == pytest.approx(rate)


def test_a_factor_is_the_probability_of_a_row_after_the_step_over_that_before():
    policies = modsum.Policy(), running_batch.after_one_step(running_batch.RIGHT, figures.RATE)
    now, was = (running_batch.drawn_logp(policy).sum(axis=1) for policy in reversed(policies))
    (panel,) = figures.four_lines(figures.HELD)
    written = {mark["key"]: mark["text"] for mark in marks(panel, "word")}
    for i in range(4):
        assert float(written[f"f{i}"]) == pytest.approx(2.718281828 ** (now[i] - was[i]), rel=0.02)


def test_the_instrument_rings_what_it_says_where_it_breaks_and_nothing_else():
    for k in widget.PRESETS.values():
        r = results.last("orientation", k)
        break_, words = widget.broken(k, r), rings(widget.figure(k, r)[0])
        assert words == ([widget.seen_at(k, r, break_.cause).words] if break_ else [])


def test_of_a_long_row_the_first_tokens_are_drawn_and_its_sum_is_written():
    rows = [(2,) * 9 + (modsum.EOS,), (0,) * modsum.T, (1, 2, modsum.EOS)]  # nine times 3, twelve times 1, 2 3 stop
    view = answers.view("k", "rows", rows, PROMPT, longest=answers.SHORT, spelled=answers.judged)
    (drawn,) = [mark for mark in view["marks"] if mark["kind"] == "tokens"]
    assert list(map(len, drawn["rows"])) == [8, 8, 3]
    assert [mark["text"] for mark in view["marks"] if mark["key"] in ("ks0", "ks1", "ks2")] == ["… = 27", "…", "= 5"]


def test_where_nothing_is_scored_no_reward_of_the_log_is_shown():
    k = widget.Knobs(cut="trajs")
    panel = widget.figure(k, results.last("orientation", k))[0]
    paid = [mark["text"] for mark in marks(panel, "word") if "reward" in mark["role"].split()]
    assert paid[:8] == ["–"] * 8 and set(paid[8:]) <= {"0", "1"}
