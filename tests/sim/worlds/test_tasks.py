"""The toy tasks: what passes, what a tool writes, and the supervised policies that they start from."""

import itertools

import numpy as np
import pytest

from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine
from sim.worlds import policies, tasks, tinylm
from sim.worlds.scorer import outcome, score
from sim.worlds.tinylm import CALL, EOS, FINAL, HMM, PAD, RESULT, encode


def rollouts(policy, task, prompts, seed=0):
    """One verified completion of each of these prompts."""
    rng = np.random.default_rng(seed)
    batch, environment = RolloutEngine(policy).generate(task, prompts, 1, rng)
    return Verifier(task).verify(batch, environment)


@pytest.fixture(scope="module")
def add():
    return tasks.checkpoint("add")


@pytest.fixture(scope="module")
def sampled(add):
    return rollouts(add, tasks.Add(), np.repeat(np.arange(100), 200))


@pytest.fixture(scope="module")
def looked_up():
    policy = tasks.checkpoint("lookup")
    return {length: rollouts(policy, tasks.Lookup(length), np.arange(4000) % 10) for length in (2, 4, 8, 16)}


def test_a_prompt_of_add_reads_as_its_sum():
    prompt = tasks.Add().prompt_ids(np.array([0, 34, 99]))
    assert (
        [tinylm.decode(row) for row in prompt.tolist()]
        == ["0+0=", "3+4=", "9+9="]
        == [tasks.Add.examples[e]["prompt"] for e in (0, 34, 99)]
    )
    assert [tasks.Add.examples[e]["expected_answer"] for e in (0, 34, 99)] == ["0", "7", "18"]


@pytest.mark.parametrize(
    "text, reward",
    [
        ("Final: 7<eos>", 1),
        ("hmm Final: 7<eos>", 1),
        ("hmm hmm hmm hmm hmm Final: 7<eos>", 1),
        ("Final: 7", 0),  # cut off: the same text, but it never ended
        ("Final: 8<eos>", 0),
        ("7<eos>", 0),
        ("Final: hmm 7<eos>", 0),
        ("Final: 7hmm <eos>", 0),
        ("Final: 07<eos>", 0),
        ("Final: 7=<eos>", 0),
        ("Final: 7<pad><eos>", 0),
        ("<pad>Final: 7<eos>", 0),
        ("3+4=Final: 7<eos>", 0),
        ("Final: 7Final: 7<eos>", 0),
        ("<eos>", 0),
        ("<call>Final: 7<eos>", 0),
    ],
)
def test_add_pays_for_the_one_line_with_the_right_sum_after_any_thinking(text, reward):
    own = encode(text)
    tokens = np.array([own + [PAD] * (8 - len(own))])
    mask = (np.arange(8) < len(own))[None].astype(float)
    [answer] = tasks.Add().answers(tokens, mask, np.array([own[-1] == EOS]))
    assert score(tasks.Add.examples[34], answer)["reward"] == reward


@pytest.mark.parametrize(
    "example, expected",
    [(34, {(FINAL, 7), (HMM, FINAL, 7), (HMM, HMM, FINAL, 7)}), (78, {(FINAL, 1, 5), (HMM, FINAL, 1, 5)})],
)
def test_of_all_completions_of_up_to_five_tokens_only_these_pass(example, expected):
    passing = set()
    for length in range(1, 5):
        prefixes = np.array(list(itertools.product([t for t in range(tinylm.V) if t != EOS], repeat=length)))
        tokens = np.concatenate([prefixes, np.full((len(prefixes), 1), EOS)], axis=1)
        # a text without `Final:` cannot pass and is not scored; 25,000 are
        tokens = tokens[(tokens == FINAL).any(axis=1)]
        answers = tasks.Add().answers(tokens, np.ones(tokens.shape), np.ones(len(tokens), bool))
        passing |= {
            tuple(row[:-1])
            for row, answer in zip(tokens.tolist(), answers)
            if score(tasks.Add.examples[example], answer)["reward"]
        }
    assert passing == expected


def test_exact_pass_sums_555_completions_over_1290_contexts(add):
    *_, where, token, completion, prompt = tasks._passing()
    # 6 lengths of thinking before each of the 55 one-digit sums and 5 before each of the 45 two-digit sums;
    # their tokens: sum over k of k + 3, and of k + 4
    assert len(prompt) == 55 * 6 + 45 * 5
    assert len(token) == 55 * (3 + 4 + 5 + 6 + 7 + 8) + 45 * (4 + 5 + 6 + 7 + 8) == 3165
    assert where.max() + 1 == 1290 and completion.max() + 1 == 555


def test_exact_pass_is_the_sum_of_the_probabilities_of_the_completions_that_pass(add):
    total = np.zeros(100)
    for e in range(100):
        digits = [int(d) for d in str(e // 10 + e % 10)]
        for k in range(8):
            own = [HMM] * k + [FINAL, *digits, EOS]
            if len(own) <= 8:
                logp, _, _ = add.token_logp(
                    tasks.Add().prompt_ids(np.array([e])), np.array([own]), np.ones((1, len(own)))
                )
                total[e] += np.exp(logp.sum())
    assert np.allclose(tasks.exact_pass(add), total, rtol=0, atol=1e-12)


def test_exact_pass_by_decoding_is_the_same_sum(add):
    assert np.allclose(tasks.exact_pass_by_decoding(add), tasks.exact_pass(add), rtol=0, atol=1e-12)


def test_exact_pass_of_a_transformer_is_the_sum_over_its_scored_completions():
    policy, (example, tokens) = policies.checkpoint(), tasks.passing()
    logp, _, _ = policy.token_logp(tasks.Add().prompt_ids(example), tokens, tokens != PAD)
    scored = np.bincount(example, np.exp(logp.sum(axis=1)))
    assert np.allclose(tasks.exact_pass(policy), scored, rtol=0, atol=1e-12)


def test_sampling_agrees_with_exact_pass(add, sampled):
    # 20,000 completions: four standard errors are 0.013
    assert abs(sampled.accuracy.mean() - tasks.exact_pass(add).mean()) < 4 * np.sqrt(0.33 * 0.67 / 20_000)


def test_the_shipped_policy_of_add_passes_a_third_of_the_time(add):
    assert abs(tasks.exact_pass(add).mean() - 0.3285) < 5e-4  # measured twice independently: .328 and .3285


def test_the_shipped_policy_of_add_is_wrong_unformatted_and_endless_as_its_demonstrations(sampled):
    words = [outcome(details["reason"], ended) for details, ended in zip(sampled.details, sampled.finished)]
    share = {word: words.count(word) / len(words) for word in set(words)}
    # the mix of the demonstrations, .30 .30 .25 .15, smoothed by a finite net
    assert abs(share["ok"] - 0.33) < 0.02 and abs(share["wrong_answer"] - 0.26) < 0.04
    assert abs(share["bad_format"] - 0.25) < 0.04 and abs(share["truncated"] - 0.15) < 0.02
    assert abs(sampled.response_mask.sum(axis=1).mean() - 4.2) < 0.15


@pytest.mark.when_changed()
def test_three_in_ten_demonstrations_of_add_are_right():
    rng = np.random.default_rng(0)
    prompt, tokens, mask = tasks.add_demonstrations(200_000, rng)
    answers = tasks.Add().answers(tokens, mask, (tokens == EOS).any(axis=1))
    right = [answer == f"Final: {a + b}" for answer, (a, _, b, _) in zip(answers, prompt.tolist())]
    # k leading hmm with probability .7 * .3^k must leave room; for 0+1 and 1+0 the slip -2 restores the right value
    expected = 0.30 * (0.55 * (1 - 0.3**6) + 0.45 * (1 - 0.3**5)) + 0.0015 * (1 - 0.3**6)
    assert abs(expected - 0.3010505715) < 1e-10
    assert abs(np.mean(right) - expected) < 4 * np.sqrt(0.3 * 0.7 / 200_000)


def test_a_demonstration_of_add_is_cut_at_eight_tokens_and_padded_after_its_end():
    _, tokens, mask = tasks.add_demonstrations(5_000, np.random.default_rng(1))
    assert tokens.shape == (5_000, 8)
    ended = (tokens == EOS).any(axis=1)
    first_end = np.where(ended, np.argmax(tokens == EOS, axis=1) + 1, 8)
    assert np.array_equal(mask.sum(axis=1), first_end) and np.array_equal(mask > 0, np.arange(8) < first_end[:, None])
    endless = (tokens == HMM).all(axis=1)
    assert abs(endless.mean() - 0.15) < 4 * np.sqrt(0.15 * 0.85 / 5_000)


def test_a_training_set_of_prompts_leaves_the_others_out():
    task = tasks.Add(np.arange(80))
    drawn = np.concatenate(
        [task.batch_prompts(400, np.random.default_rng(0)), task.refill_prompts(400, np.random.default_rng(1))]
    )
    assert set(drawn.tolist()) == set(range(80))


def test_the_length_bias_pays_for_thinking_and_leaves_the_accuracy_alone(add):
    prompts = np.arange(100)
    plain, graded = rollouts(add, tasks.Add(), prompts), rollouts(add, tasks.GradedAdd(0.15), prompts)
    assert np.array_equal(plain.tokens, graded.tokens) and np.array_equal(plain.accuracy, graded.accuracy)
    assert np.array_equal(plain.reward, plain.accuracy)
    thoughts = np.array([sum(t == HMM for t in row) for row in graded.tokens.tolist()])
    assert np.allclose(graded.reward - graded.accuracy, 0.15 * thoughts, rtol=0, atol=1e-12) and thoughts.max() == 8


def replayed(own, key=3, length=5):
    """The tokens of one row when the policy writes `own` and the tool answers, with the tool that answered."""
    task = tasks.Lookup(length)
    tool, own = task.environment(np.array([key]), np.random.default_rng(0)), list(own)
    tokens, mask = np.full((1, task.T), PAD), np.zeros((1, task.T))
    for t in range(task.T):
        [forced] = tool.step(tokens, t)
        if forced < 0 and not own:
            break
        tokens[0, t], mask[0, t] = (own.pop(0), 1) if forced < 0 else (forced, 0)
    return task, tool, tokens, mask


def test_the_tool_answers_the_first_call_with_filler_and_the_entry_that_was_asked_for():
    _, tool, tokens, mask = replayed(encode("<call>7Final: 1<eos>"))
    assert (
        tokens[0, 2] == RESULT
        and tokens[0, 6] == tool.table[0, 7]
        and tool.examples[0]["expected_answer"] == str(tool.table[0, 3])
    )
    assert mask[0].tolist() == [1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    assert (tokens[0, 3:6] < 10).all()


def test_the_tool_answers_once_and_only_a_call_with_a_digit():
    assert (replayed(encode("<call>7<call>7<call>"))[3] == 0).sum() == 5 + 3  # a reply of five, three slots left empty
    assert replayed(encode("<call>=<result>7Final: "))[3][0, :5].tolist() == [1] * 5


def test_a_lookup_is_paid_for_the_entry_of_its_key_only():
    _, tool, _, _ = replayed(encode("<call>3"))
    entry, other = tool.table[0, 3], (tool.table[0, 3] + 1) % 10

    def reward(text):
        task, tool, tokens, mask = replayed(encode(text))
        [answer] = task.answers(tokens, mask, np.array([text.endswith("<eos>")]))
        return score(tool.examples[0], answer)["reward"]

    assert (
        reward(f"<call>3Final: {entry}<eos>")
        == reward(f"Final: {entry}<eos>")
        == reward(f"<call>3hmm Final: {entry}<eos>")
        == 1
    )
    assert reward(f"hmm <call>3Final: {entry}<eos>") == 1
    assert (
        reward(f"<call>3Final: {other}<eos>") == reward(f"<call>3Final: {entry}") == reward(f"<call>3{entry}<eos>") == 0
    )
    assert reward(f"Final: {other}<call>3Final: {entry}<eos>") == 0  # two answers
    assert reward(f"<call>=Final: {entry}<eos>") == 0


def test_an_answer_in_the_output_of_the_tool_is_not_paid():
    task, tool, tokens, mask = replayed(encode("<call>3<eos>"))
    entry = tool.table[0, 3]
    tokens[0, 3:6] = FINAL, entry, EOS  # the reply now reads <result>Final: v<eos>
    [answer] = task.answers(tokens, mask, np.array([True]))
    assert answer == "" and score(tool.examples[0], answer)["reward"] == 0


def test_the_shipped_policy_of_lookup_calls_seven_times_in_ten_and_passes_half_the_time(looked_up):
    for batch in looked_up.values():
        calls = ((batch.valid_mask - batch.response_mask).sum(axis=1) > 0).mean()
        # measured on another implementation: pass .490-.502, call rate .69-.71 (a perfect imitator passes .4735 and
        # calls .70 of the time)
        assert abs(batch.accuracy.mean() - 0.495) < 0.03 and abs(calls - 0.70) < 0.03


def test_the_longer_the_reply_the_smaller_the_share_of_own_tokens(looked_up):
    own = [batch.response_mask.sum() / batch.valid_mask.sum() for batch in looked_up.values()]
    assert np.allclose(own, [0.76, 0.62, 0.45, 0.29], rtol=0, atol=0.03)  # another implementation at 2, 4, 8, 16 tokens


def test_a_demonstration_of_lookup_never_trains_on_the_reply():
    key, tokens, mask = tasks.lookup_demonstrations(20_000, np.random.default_rng(0))
    called = tokens[:, 0] == CALL
    assert abs(called.mean() - 0.70) < 4 * np.sqrt(0.7 * 0.3 / 20_000)
    assert (
        not mask[tokens == RESULT].any()
        and mask[tokens == FINAL].all()
        and mask[tokens == EOS].all()
        and not mask[tokens == PAD].any()
    )
    start, end = np.argmax(tokens == RESULT, axis=1), np.argmax(tokens == FINAL, axis=1)
    length = (end - start)[called]
    assert length.min() == 2 and length.max() == 16 and (start[called] == 2).all()
    assert np.array_equal((1 - mask)[called].sum(axis=1) - (tokens[called] == PAD).sum(axis=1), length)
    rows = np.flatnonzero(called)
    shown, said, asked = tokens[rows, end[rows] - 1], tokens[rows, end[rows] + 1], tokens[rows, 1]
    # of the 70 that call, 55 ask for their own key or hit it by chance (1.5), and 55 repeat the entry or hit it by
    # chance (1.5)
    assert abs((asked == key[rows, 2]).mean() - 56.5 / 70) < 0.015 and abs((shown == said).mean() - 56.5 / 70) < 0.015


def test_the_supervised_policy_has_not_learnt_to_write_the_replies_itself(looked_up):
    batch, policy = looked_up[8], tasks.checkpoint("lookup")
    written = batch.valid_mask - batch.response_mask
    logp, _, _ = policy.token_logp(batch.prompt, batch.tokens, written)
    assert -(logp.sum() / written.sum()) > np.log(
        20
    )  # worse than uniform: these tokens were masked, and nothing else taught them


@pytest.mark.when_changed()
@pytest.mark.parametrize("name", ["add", "lookup"])
def test_the_shipped_policies_are_what_fitting_the_demonstrations_gives(name, add, looked_up):
    shipped, made = tasks.checkpoint(name), tasks.supervised(tasks.DEMONSTRATIONS[name])
    if name == "add":
        assert abs(tasks.exact_pass(shipped).mean() - tasks.exact_pass(made).mean()) < 1e-3
        assert np.abs(tasks.exact_pass(shipped) - tasks.exact_pass(made)).max() < 0.02
    batch = rollouts(shipped, {"add": tasks.Add(), "lookup": tasks.Lookup()}[name], np.arange(300) % 10)
    one, other = (policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)[0] for policy in (shipped, made))
    assert np.abs(one - other).sum() / batch.response_mask.sum() < 0.01  # nats a token; 32 bits alone give 1e-7


def test_a_checkpoint_is_small_and_exact_in_32_bits(add):
    assert all(np.array_equal(array, array.astype(np.float32)) for array in add.params.values())
    assert sum(array.size for array in add.params.values()) * 4 < 50_000
    assert tasks.checkpoint("add").params["W1"] is not add.params["W1"]


def test_a_reply_needs_room_for_the_entry():
    with pytest.raises(ValueError, match="at least 2"):
        tasks.Lookup(1)


def test_keys_that_are_kept_out_are_not_asked_for_and_all_are_by_default():
    rng = np.random.default_rng(0)
    assert set(tasks.Lookup(prompts=np.array([2, 7])).batch_prompts(100, rng).tolist()) == {2, 7}
    assert set(tasks.Lookup().batch_prompts(1000, rng).tolist()) == set(range(10))


CHAIN_ENDS = [  # of prompt 5388, whose running totals are 5 8 6 4
    ("864Final: 4<eos>", "ok"),
    ("863Final: 4<eos>", "ok"),  # the thought is not graded
    ("Final: 4<eos>", "ok"),
    ("864<eos>", "no_prefix"),
    ("hmm hmm hmm hmm hmm hmm hmm hmm ", "empty"),  # it never ended
    ("864Final: 4", "empty"),
    ("Final: 04<eos>", "non_canonical_int"),
    ("Final: 4Final: 4<eos>", "extra_text"),
    ("864Final: 24<eos>", "wrong_value"),
]


@pytest.mark.parametrize("text, reason", CHAIN_ENDS)
def test_of_a_chain_only_what_follows_its_first_final_is_graded(text, reason):
    task, ids = tasks.Chain(), encode(text)
    tokens = np.array([ids + [PAD] * (task.T - len(ids))])
    (answer,) = task.answers(tokens, (tokens != PAD).astype(float), np.array([ids[-1] == EOS]))
    assert score(task.examples[5388], answer)["details"]["reason"] == reason


def test_two_thousand_of_ten_thousand_chains_are_held_out():
    """PCG64's permutation of 10,000 with seed 2026."""
    assert tasks.HELD[:6].tolist() == [7835, 1715, 9033, 5388, 6700, 554]
    assert tasks.TRAIN[:6].tolist() == [9584, 6447, 5311, 7180, 2633, 6695]
    assert len(tasks.HELD) == 2000 and tasks.HELD.sum() == 9_949_127
    assert sorted(np.concatenate([tasks.HELD, tasks.TRAIN]).tolist()) == list(range(10_000))
    drawn = tasks.Chain().batch_prompts(500, np.random.default_rng(0))
    assert not set(drawn.tolist()) & set(tasks.HELD.tolist())


def test_no_constant_answers_more_than_a_ninth_of_the_chains():
    answers = np.array([int(example["expected_answer"]) for example in tasks.Chain.examples])
    assert np.bincount(answers).tolist() == [1000] * 10
    assert np.bincount(answers[tasks.HELD]).tolist() == [216, 195, 187, 220, 217, 192, 208, 191, 190, 184]


def test_running_totals_end_in_the_answer():
    every = np.arange(10_000)
    assert tasks.four_digits(np.array([5388])).tolist() == [[5, 3, 8, 8]]
    assert tasks.running_totals(np.array([5388])).tolist() == [[5, 8, 6, 4]]
    assert [str(total) for total in tasks.running_totals(every)[:, 3].tolist()] == [
        example["expected_answer"] for example in tasks.Chain.examples
    ]
