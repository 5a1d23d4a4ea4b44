"""A widget run with a reader's function: every caller gets it, ours comes back, a misfit is one sentence."""

import json
import types

import numpy as np
import pytest

from sim.estimators import group_baselines
from widgets.frame.contract.exercises import Exercise
from widgets.frame.reader import host, reader_code, reader_patch

OURS = reader_patch.text_of(host.exercises("grpo").CHANGE)
REWARDS = np.array([[1.0, 0, 0, 0]])


def last(source, form=()):
    *_, frame = reader_patch.stream("grpo", dict(form), source, alive=lambda: None)
    return json.loads(frame)


def as_changed(body, function=group_baselines.z_score):
    yours = reader_code.compiled(f"def z_score(rewards, eps=1e-6, ddof=1):\n    {body}\n", function)
    return {function: reader_patch.Changed(yours, function, lambda: None)}


def test_every_importer_of_a_patched_function_calls_the_reader_s_version():
    ours = group_baselines.z_score
    with reader_patch.in_force(as_changed("return 0 * rewards")):
        assert (ours(REWARDS) == 0).all() and (ours(REWARDS, ddof=0, eps=0.1) == 0).all()
        assert host.line_of(ours) == "sim/estimators/group_baselines.py#L19"
    assert ours(REWARDS)[0, 0] == pytest.approx(1.5, rel=1e-5)  # (1 - 1/4) / (1/2), by hand


def test_the_book_s_own_function_comes_back_after_a_fault():
    with pytest.raises(reader_code.Refused), reader_patch.in_force(as_changed("return rewards[9]")):
        group_baselines.z_score(REWARDS)
    assert group_baselines.z_score(REWARDS)[0, 0] == pytest.approx(1.5, rel=1e-5)
    assert "_yours_z_score" not in vars(group_baselines)


def test_cached_results_that_may_depend_on_the_patched_function_are_forgotten():
    from widgets.grpo import widget as grpo

    before = grpo.shares(4, 1e-6, "sample")[0]
    with reader_patch.in_force(as_changed("return less_mean(rewards)")):
        np.testing.assert_allclose(grpo.shares(4, 1e-6, "sample")[0], 0.75)  # (K - 1) / K, at every pass rate
    np.testing.assert_array_equal(grpo.shares(4, 1e-6, "sample")[0], before)


@pytest.mark.parametrize(
    "change, sentence",
    [
        (("return less_mean", "return les_mean"), "Line 5: NameError: name 'les_mean' is not defined."),
        (
            ("    return less", "    return 3  # less"),
            "z_score returned a number; what calls it takes an array of shape",
        ),
        (("    return less", "    pass  # less"), "z_score returned nothing; what calls it takes an array of shape"),
        (("eps=1e-6, ddof=1", "eps"), "Line 1: z_score is called with 3 arguments, rewards, eps and ddof."),
        (("def z_score", "def other"), "There is no function z_score here any more"),
    ],
)
def test_a_patch_that_does_not_fit_its_function_is_refused_in_one_sentence(change, sentence):
    answer = last(OURS.replace(*change))
    assert answer["refused"].startswith(sentence) and answer["refused"].endswith(".")


def test_output_printed_by_a_patch_stands_beside_the_figure():
    answer = last(OURS.replace("    return less", '    print("here")\n    return less'), dict(K="64"))
    assert answer["beside"].startswith("Printed:\nhere\nhere")


def test_the_first_call_that_differs_is_told_with_its_numbers():
    half = Exercise("", ((np.array([2.0]),), (np.array([4.0]),)), lambda x: x / 2, ("", ""), ("", ""))
    assert reader_patch.held(half, lambda x: x / 2)["met"]
    verdict = reader_patch.held(half, lambda x: np.minimum(x / 2, 1))
    assert verdict == dict(met=False, said="For [4.] it returns [1.]; wanted is [2.].")


def test_results_count_as_equal_only_if_all_their_parts_and_shapes_are_equal():
    assert reader_patch.same((1.0, np.ones(2)), (1, np.ones(2)))
    assert (
        not reader_patch.same((1.0,), (1.0, 2.0))
        and not reader_patch.same(np.ones(2), 1.0)
        and not reader_patch.same(1.0, 1.1)
    )


def test_calls_that_come_back_tell_the_page_so_and_one_that_does_not_is_silent(monkeypatch):
    signs = []

    def tripled(rewards, eps=1e-6, ddof=1):
        signs.append("inside")
        return 3 * rewards

    yours = reader_patch.Changed(tripled, group_baselines.z_score, lambda: signs.append("alive"))
    yours(REWARDS)
    monkeypatch.setattr(reader_patch, "SIGN", 0.0)
    yours(REWARDS)
    yours(REWARDS)
    assert signs == ["inside", "alive", "inside", "alive", "inside"]


def test_a_function_with_a_generator_of_random_numbers_is_checked_on_a_copy_of_it():
    def drawn(n, rng):
        return rng.random(n)

    rng = np.random.default_rng(0)
    value = reader_patch.Changed(lambda n, rng: rng.random(n), drawn, lambda: None)(3, rng)
    assert value.tolist() == np.random.default_rng(0).random(3).tolist()
    assert rng.random() == np.random.default_rng(0).random(4)[3]
    assert isinstance(drawn, types.FunctionType)
