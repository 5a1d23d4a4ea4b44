import re
import time
from dataclasses import replace

import numpy as np
import pytest

from sim.rollouts import phrases
from sim.rollouts.attribution import attribution, paid
from tests.sim.rollouts.shipped import rollouts, small

LISTED = ("\n", "Final", ":", phrases.NUMBER)


def verifier():
    file = rollouts("verifier")
    return paid(file, attribution(file))


def strongest(file):
    return phrases.paid_phrases(file, phrases.grams(file))[0]


def first_mixed_groups(file):
    """The rows of the first group of each prompt in which some texts list guesses and others do not."""
    lists = np.array([len(re.findall(r"\nFinal: \d", text)) >= 2 for text in file.completions])
    n, size = np.bincount(file.group, lists), np.bincount(file.group)
    kept = {}
    for g in np.flatnonzero((n > 0) & (n < size)):
        kept.setdefault(file.prompts[g], g)
    return np.isin(file.group, list(kept.values()))


def test_the_verifier_pays_for_a_list_of_guesses():
    # README of the runs: +0.606 in any_line, -0.22 in exact, 25 prompts, with the first group of each prompt
    file = verifier()
    one = strongest(file.taken(first_mixed_groups(file)))
    assert (one.words, one.times, one.prompts) == (LISTED, 2, 25)
    assert one.pays == pytest.approx(0.606, abs=6e-4)
    assert one.scores["exact"] == pytest.approx(-0.22, abs=5e-3)


def test_all_groups_of_a_prompt_count_once_in_its_mean():
    file = verifier()
    lists = np.array([len(re.findall(r"\nFinal: \d", text)) >= 2 for text in file.completions])
    differences = {}
    for g, prompt in enumerate(file.prompts):
        with_it, without = ((file.group == g) & lists), ((file.group == g) & ~lists)
        if with_it.any() and without.any():
            gap = file.reward[with_it].mean() - file.reward[without].mean()
            differences.setdefault(prompt, []).append(gap)
    one = strongest(file)
    assert one.pays == pytest.approx(np.mean([np.mean(gaps) for gaps in differences.values()]), rel=1e-12)
    assert (one.words, one.prompts) == (LISTED, len(differences))
    np.testing.assert_array_equal(one.rows, np.flatnonzero(lists))


def test_rewards_that_know_nothing_of_words_pay_for_none():
    for seed in range(5):
        file = verifier()
        coin = np.random.default_rng(seed).integers(0, 2, len(file)).astype(float)
        coin_file = replace(file, reward=coin)
        assert phrases.paid_phrases(coin_file, phrases.grams(coin_file)) == []


@pytest.mark.parametrize(
    "text, words",
    [
        ("I'd say 12.5\nor so", ["I", "'", "d", "say", "0", ".", "0", "\n", "or", "so"]),
        ("1+52or it", ["0", "+", "0", "or", "it"]),
        ("## 3²", ["#", "#", "0", "²"]),
        ("", []),
    ],
)
def test_numbers_are_one_word_and_line_breaks_count(text, words):
    assert phrases.words(text) == words


def test_letters_that_are_written_without_spaces_are_words():
    assert phrases.words("答案是4 ok") == ["答", "案", "是", "0", "ok"]


def test_of_a_long_text_both_ends_are_read():
    text = " ".join(chr(97 + i % 26) * (i // 26 + 1) for i in range(600))
    every = text.split()
    assert phrases.words(text) == [*every[:256], None, *every[-256:]]
    start = time.process_time()
    assert len(phrases.words("ab " * 10_000_000)) == 513
    assert time.process_time() - start < 0.2  # 30 MB are not split


def test_n_grams_do_not_run_past_the_end_of_a_text():
    file = small(10 * [[1, 0]], completions=10 * ["a b", "c a b a"])
    found = phrases.grams(file)
    assert set(found.words) == {tuple(w) for w in ("a", "b", "c", "ab", "ba", "ca", "aba", "cab", "caba")}
    gram = found.words.index(("a",))
    assert found.held(gram, 1).tolist() == list(range(20)) and found.held(gram, 2).tolist() == list(range(1, 20, 2))
    assert phrases.share_with(found, np.ones(20, bool), 2)[gram] == 0.5


def test_n_grams_of_fewer_than_ten_texts_are_left_out():
    file = small(10 * [[1, 0]], completions=[*(9 * ["a b", "c a"]), "a", "a"])
    assert set(phrases.grams(file).words) == {("a",)}


@pytest.mark.parametrize(
    "freedom, t",  # tables of Student's distribution: 5 % two-sided lies beyond t
    [(5, 2.571), (9, 2.262), (11, 2.201), (20, 2.086), (30, 2.042), (100, 1.984)],
)
def test_p_values_are_students(freedom, t):
    assert phrases.p_value(t, freedom) == pytest.approx(0.05, rel=0.01)
    assert phrases.p_value(-t, freedom) == phrases.p_value(t, freedom)


def test_far_out_p_values_are_students_too():
    # the same tables: 0.1 % lies beyond 4.781 with 9 degrees of freedom, and beyond 3.745 with 24
    assert phrases.p_value(4.781, 9) == pytest.approx(0.001, rel=0.03)
    assert phrases.p_value(3.745, 24) == pytest.approx(0.001, rel=0.03)


def test_holms_example():
    # 0.01 ≤ 0.05 / 4 and 0.013 ≤ 0.05 / 3, but 0.03 > 0.05 / 2, and so 0.04 fails too
    assert phrases.holm(np.array([0.04, 0.01, 0.03, 0.013])).tolist() == [False, True, False, True]


def test_of_words_that_stand_together_one_n_gram_is_named():
    texts, rewards = [], []
    for letter in "abcdefghijkl":
        texts += ["so the answer is here", letter, "so the answer is here", 2 * letter]
        rewards.append([1, 0, 1, 0])
    file = small(rewards, completions=texts)
    file = replace(file, reward=file.scores["paid"])
    (one,) = phrases.paid_phrases(file, phrases.grams(file))
    assert len(one.words) == 4 and one.pays == pytest.approx(1)


def test_files_without_words_or_without_differences_have_no_phrases():
    for rewards, texts in (([[1, 0]], ["", ""]), ([[1, 1]], ["a", "b"]), ([[np.nan]], ["a"]), ([[1]], ["a"])):
        file = small(rewards, completions=texts)
        file = replace(file, reward=file.scores["paid"])
        assert phrases.paid_phrases(file, phrases.grams(file)) == []
