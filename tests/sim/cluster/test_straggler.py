"""What the slowest of many costs, and which completions each way of not waiting for it leaves in the batch."""

from math import comb, erf, exp, log, sqrt

import numpy as np
import pytest

from sim.cluster import straggler
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.throughput import iteration_seconds

integrate, special, stats = (
    pytest.importorskip(f"scipy.{part}", reason="the expected numbers are scipy's, which is not in the page's runtime")
    for part in ("integrate", "special", "stats")
)
E_OF_LENGTH = exp(0.8**2 / 2)  # mean of a log-normal with median 1 and σ = 0.8


def decode(running, kv_tokens):
    return iteration_seconds(MODELS["qwen2.5-7b"], ACCELERATORS["h100"], running, kv_tokens)


def right(z, slope):
    return special.expit(slope * z)


def first_prompts(z, prompts):
    """The groups that finish first, (launched, K) -> (prompts, K)."""
    return z[np.argsort(z.max(axis=1))[:prompts]]


def score(law, slope):
    return np.mean([law(np.random.default_rng(seed), slope) for seed in range(200)])


# The slowest


def test_the_longer_of_two_has_a_closed_form():
    # E[max of 2] = 2 exp(σ²/2) Φ(σ/√2); at σ = 1 it is 2.5068804906
    assert straggler.expected_max(2, 1.0) == pytest.approx(2.5068804906, abs=1e-10)
    for sigma in (0.2, 0.8, 1.5):
        assert straggler.expected_max(2, sigma) == pytest.approx(
            2 * exp(sigma**2 / 2) * (1 + erf(sigma / 2)) / 2, rel=1e-10
        )


@pytest.mark.parametrize(
    "n, sigma, tax, digits",
    [
        (64, 0.8, 5.08090, 5),
        (512, 0.4, 3.15, 2),
        (512, 0.8, 8.69264, 5),
        (512, 1.0, 13.72891, 5),
        (1024, 0.6, 6.00390, 5),
        (1024, 0.8, 10.19, 2),
    ],
)
def test_the_tax_for_waiting(n, sigma, tax, digits):
    # adaptive quadrature (scipy) of ∫ n Φ^(n−1) φ exp(σz) dz, over exp(σ²/2)
    def longest(z):
        return n * special.ndtr(z) ** (n - 1) * stats.norm.pdf(z) * exp(sigma * z)

    quadrature = integrate.quad(longest, -8, 14, points=(2, 3, 4), epsabs=0, epsrel=1e-11)[0]
    assert straggler.straggler_tax(n, sigma) == pytest.approx(quadrature / exp(sigma**2 / 2), rel=1e-9)
    assert straggler.straggler_tax(n, sigma) == pytest.approx(tax, abs=0.5 * 10**-digits)


def test_equal_lengths_pay_no_tax():
    assert straggler.straggler_tax(512, 0.0) == pytest.approx(1.0, abs=1e-12)


def test_one_completion_waits_for_itself():
    assert straggler.straggler_tax(1, 0.8) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("k, n, medians", [(512, 576, 3.379747), (512, 640, 2.316583), (460, 512, 3.558156)])
def test_the_last_tenth_is_most_of_the_wait(k, n, medians):
    # E[exp(z_(k:n))] with the beta density of the k-th of n uniforms, adaptive quadrature in scipy
    assert straggler.expected_order_stat(k, n, 1.0) == pytest.approx(medians, abs=5e-7)
    beta = stats.beta(k, n - k + 1)
    by_quantile = integrate.quad(
        lambda u: beta.pdf(u) * exp(special.ndtri(u)), 0, 1, points=(k / n,), epsabs=0, epsrel=1e-9, limit=200
    )[0]
    assert straggler.expected_order_stat(k, n, 1.0) == pytest.approx(by_quantile, rel=1e-8)


def test_first_eight_of_twelve_against_eight_of_eight():
    # the same integral: 1.338833 and 3.547589 medians at σ = 0.8
    assert straggler.expected_order_stat(8, 12, 0.8) == pytest.approx(1.338833, abs=5e-7)
    assert straggler.expected_max(8, 0.8) == pytest.approx(3.547589, abs=5e-7)
    assert straggler.expected_order_stat(8, 12, 0.8) / straggler.expected_max(8, 0.8) == pytest.approx(0.3774, abs=5e-5)


def test_a_cap_bounds_the_wait_and_hardly_moves_the_mean():
    # closed form at σ = 1, cap of 8 medians: mean 1.567885, P(l > 8) = 1 − Φ(ln 8) = 0.0187884; max by quadrature
    # 7.99998
    assert straggler.expected_max(512, 1.0, cap=8.0) == pytest.approx(7.99998, abs=5e-6)
    assert straggler.capped_mean(1.0, cap=8.0) == pytest.approx(1.567885, abs=5e-7)
    assert straggler.truncated_share(1.0, 0.0, 8.0) == pytest.approx(0.0187884, abs=5e-8)
    assert straggler.truncated_share(1.0, 0.0, 8.0) == pytest.approx(stats.norm.sf(log(8)), rel=1e-12)


def test_capped_mean_is_the_mean_of_capped_lengths():
    direct = integrate.quad(
        lambda z: min(1200 * exp(0.8 * z), 4096.0) * stats.norm.pdf(z), -9, 9, points=(log(4096 / 1200) / 0.8,)
    )[0]
    assert straggler.capped_mean(0.8, log(1200), 4096.0) == pytest.approx(direct, rel=1e-9)
    assert straggler.capped_mean(0.0, log(1200), 600.0) == pytest.approx(600.0)


def test_what_usual_caps_cut_off():
    # 1 − Φ(ln(cap/1200)/0.8): 6.2 % at 4096, 0.82 % at 8192
    assert straggler.truncated_share(0.8, log(1200), 4096) == pytest.approx(0.062, abs=5e-4)
    assert straggler.truncated_share(0.8, log(1200), 8192) == pytest.approx(0.0082, abs=5e-5)
    assert (straggler.truncated_share(0.0, log(1200), 1000), straggler.truncated_share(0.0, log(1200), 1300)) == (
        1.0,
        0.0,
    )


def test_with_every_completion_kept_a_step_waits_for_the_longest():
    assert straggler.wait_in_prompts(64, 8, 8, 0.8) == pytest.approx(
        straggler.expected_max(512, 0.8), rel=1e-7
    )  # fourth order in the grid
    assert straggler.wait_for_prompts(8, 64, 64, 0.8) == pytest.approx(straggler.expected_max(512, 0.8), rel=1e-9)


def test_one_prompt_waits_for_its_own_order_statistic():
    assert straggler.wait_in_prompts(1, 8, 12, 0.8) == pytest.approx(
        straggler.expected_order_stat(8, 12, 0.8), rel=1e-12
    )


def test_a_step_of_many_prompts_waits_for_the_slowest_prompt():
    # drawn: 64 prompts, the 8th of 12 in each, the longest of those
    z = np.random.default_rng(0).standard_normal((2000, 64, 12))
    longest = np.exp(0.8 * np.sort(z, axis=2)[:, :, 7].max(axis=1))
    assert abs(straggler.wait_in_prompts(64, 8, 12, 0.8) - longest.mean()) < 3 * longest.std() / sqrt(2000)


# Who is left


@pytest.mark.parametrize("launched", [9, 12, 24])
def test_a_completion_is_kept_if_at_most_seven_others_are_shorter(launched):
    # binomial sum over the other completions, scipy
    trained = straggler.race_in_prompts(8, launched)
    assert np.allclose(trained, stats.binom.cdf(7, launched - 1, straggler.SHORTER), atol=2e-7)
    assert straggler.integral(trained * straggler.DENSITY) == pytest.approx(8 / launched, rel=1e-8)


@pytest.mark.parametrize("between", [0.0, 0.25, 0.5, 0.75])
def test_each_race_keeps_the_share_it_says(between):
    for trained in (straggler.race_in_prompts(8, 12, between), straggler.race_of_prompts(8, 64, 96, between)):
        assert straggler.integral(trained * straggler.DENSITY) == pytest.approx(2 / 3, rel=1e-5)


def test_keeping_the_first_eight_of_twelve_reads_eleven_points_too_high():
    # 0.610 ± 0.005 by drawing 20 000 groups; exactly, the binomial sum integrated by scipy
    exact = (
        integrate.quad(lambda z: stats.binom.cdf(7, 11, special.ndtr(z)) * right(z, -1) * stats.norm.pdf(z), -9, 9)[0]
        * 12
        / 8
    )
    assert straggler.trained_accuracy(-1, straggler.race_in_prompts(8, 12)) == pytest.approx(exact, abs=1e-8)
    assert exact == pytest.approx(0.610, abs=0.005)


def test_the_sign_of_the_bias_is_the_opposite_of_the_slope():
    trained = straggler.race_in_prompts(8, 12)
    up, down = straggler.trained_accuracy(-1, trained), straggler.trained_accuracy(1, trained)
    assert up + down == pytest.approx(1.0, abs=1e-9)
    assert straggler.trained_accuracy(0, trained) == pytest.approx(0.5, abs=1e-12)


def test_the_bias_grows_with_every_further_completion_launched():
    accuracy = [straggler.trained_accuracy(-1, straggler.race_in_prompts(8, launched)) for launched in range(8, 25)]
    assert accuracy[0] == pytest.approx(0.5, abs=1e-12)
    assert np.all(np.diff(accuracy) > 0)


def test_whole_prompts_bias_less_while_all_prompts_are_alike():
    # drawn: 64 of 96 groups of 8, 200 steps
    def law(rng, slope):
        return right(first_prompts(straggler.drawn(96, 8, 0.0, rng), 64), slope).mean()

    exact = straggler.trained_accuracy(-1, straggler.race_of_prompts(8, 64, 96))
    assert exact == pytest.approx(score(law, -1), abs=0.002)
    assert exact - 0.5 < 0.25 * (straggler.trained_accuracy(-1, straggler.race_in_prompts(8, 12)) - 0.5)


def test_whole_prompts_bias_as_much_when_prompts_differ():
    # drawn: half of the variance of log length between prompts, 200 steps of 64 groups
    def prompts(rng, slope):
        return right(first_prompts(straggler.drawn(96, 8, 0.5, rng), 64), slope).mean()

    def completions(rng, slope):
        return right(straggler.first_completions(straggler.drawn(64, 12, 0.5, rng), 8), slope).mean()

    of_prompts = straggler.trained_accuracy(-1, straggler.race_of_prompts(8, 64, 96, 0.5))
    in_prompts = straggler.trained_accuracy(-1, straggler.race_in_prompts(8, 12, 0.5))
    assert of_prompts == pytest.approx(score(prompts, -1), abs=0.003)
    assert in_prompts == pytest.approx(score(completions, -1), abs=0.003)
    assert of_prompts == pytest.approx(in_prompts, abs=0.001)


@pytest.mark.parametrize("between", [0.25, 0.5, 0.75])
def test_waiting_among_unlike_prompts_agrees_with_drawing_them(between):
    rng, draws = np.random.default_rng(0), 1500
    completions = [
        np.exp(0.8 * straggler.first_completions(straggler.drawn(64, 12, between, rng), 8).max()) for _ in range(draws)
    ]
    prompts = [np.exp(0.8 * first_prompts(straggler.drawn(96, 8, between, rng), 64).max()) for _ in range(draws)]
    assert abs(straggler.wait_in_prompts(64, 8, 12, 0.8, between=between) - np.mean(completions)) < 3.5 * np.std(
        completions
    ) / sqrt(draws)
    assert abs(straggler.wait_for_prompts(8, 64, 96, 0.8, between=between) - np.mean(prompts)) < 3.5 * np.std(
        prompts
    ) / sqrt(draws)


def test_kept_completions_are_shorter():
    assert straggler.trained_length(0.8, np.ones_like(straggler.Z)) == pytest.approx(E_OF_LENGTH, rel=1e-9)
    assert straggler.trained_length(0.8, straggler.race_in_prompts(8, 12)) < 0.6 * E_OF_LENGTH


def test_each_launched_completion_yields_its_share_of_the_batch():
    trained = straggler.race_in_prompts(8, 12)
    assert straggler.tokens_trained_on(0.8, trained) == pytest.approx(
        8 / 12 * straggler.trained_length(0.8, trained), rel=1e-8
    )
    assert straggler.tokens_trained_on(0.8, np.ones_like(straggler.Z), 2.0) == pytest.approx(
        straggler.capped_mean(0.8, cap=2.0), rel=1e-5
    )


def test_a_cap_that_masks_is_a_race_against_the_clock_and_one_that_punishes_lowers_the_reading():
    # slope −1, cut at z = 1: E[p | z < 1] and E[p; z < 1], quadrature in scipy
    everyone = np.ones_like(straggler.Z)
    right_in_time = integrate.quad(lambda z: right(z, -1) * stats.norm.pdf(z), -9, 1)[0]
    assert straggler.trained_accuracy(-1, straggler.before(1.0)) == pytest.approx(
        right_in_time / stats.norm.cdf(1), abs=1e-5
    )
    assert straggler.punished_accuracy(-1, everyone, 1.0) == pytest.approx(right_in_time, abs=1e-5)
    assert right_in_time < 0.5 < right_in_time / stats.norm.cdf(1)


def test_what_is_resumed_ends_at_the_cap():
    run = straggler.resumed(8, 64, 96, 0.8, 2.0, 0.0, 20, np.random.default_rng(0))
    assert run.time.max() <= 2.0


@pytest.mark.parametrize("slope, accuracy", [(-1, 0.610), (0, 0.5), (1, 0.391)])
def test_drawn_races_agree_with_the_integral(slope, accuracy):
    # 0.610, 0.5015, 0.391 ± 0.005 in one seed each; closed form 0.6095, 0.5, 0.3905
    stop = straggler.early_stop(8, 12, 0.8, slope, 20_000, np.random.default_rng(0))
    assert stop.accuracy_kept == pytest.approx(accuracy, abs=0.005)
    assert stop.accuracy_kept == pytest.approx(
        straggler.trained_accuracy(slope, straggler.race_in_prompts(8, 12)), abs=0.004
    )
    assert stop.accuracy_all == pytest.approx(0.5, abs=0.004)
    assert stop.time_ratio == pytest.approx(0.325, abs=0.01)  # E[l_(8:12)] / E[max of 12]


def test_keeping_all_changes_nothing():
    stop = straggler.early_stop(8, 8, 0.8, -1, 5_000, np.random.default_rng(0))
    assert (stop.accuracy_kept, stop.time_ratio, stop.length_ratio) == (stop.accuracy_all, 1.0, 1.0)


# What the gradient sees


def test_the_gradient_of_a_full_group_is_the_exact_one():
    stop = straggler.early_stop(8, 8, 0.8, -1, 100_000, np.random.default_rng(0))
    assert np.allclose(stop.gradient, stop.exact, atol=0.004)
    assert stop.cosine == pytest.approx(1.0, abs=2e-4)


def test_the_exact_gradient_is_the_slope_of_the_reward():
    # finite differences of J(θ, m) = E[1/(1 + exp(−θ − slope · z))], z ~ N(m, 1)
    def J(skill, length):
        return integrate.quad(lambda z: special.expit(skill - 0.7 * z) * stats.norm.pdf(z - length), -10, 10)[0]

    h = 1e-4
    assert np.allclose(
        straggler.policy_gradient(-0.7), [(J(h, 0) - J(-h, 0)) / (2 * h), (J(0, h) - J(0, -h)) / (2 * h)], atol=1e-7
    )


@pytest.mark.parametrize("slope", [-1.0, 1.0])
def test_a_race_halves_the_pull_on_length_and_keeps_its_sign(slope):
    # given the 9th of 12, t, the kept are fair draws below t: E over t of Cov(p, z | z < t), cumulative trapezoid in
    # scipy on 20 001 points
    z = np.linspace(-9, 9, 20_001)

    def below(f):
        return integrate.cumulative_trapezoid(f * stats.norm.pdf(z), z, initial=0) / special.ndtr(z)

    pull = below(right(z, slope) * z) - below(right(z, slope)) * below(z)
    ninth = 12 * comb(11, 8) * special.ndtr(z) ** 8 * special.ndtr(-z) ** 3 * stats.norm.pdf(z)
    kept = integrate.trapezoid(ninth * pull, z)
    stop = straggler.early_stop(8, 12, 0.8, slope, 60_000, np.random.default_rng(1))
    assert stop.gradient[1] == pytest.approx(kept, abs=0.004)
    assert stop.gradient[1] / stop.exact[1] == pytest.approx(0.49, abs=0.02)
    assert 0.93 < stop.cosine < 0.95


@pytest.mark.parametrize("cutoff", [0.5, 0.8, 1.2, 2.0])
def test_masking_weakens_the_pull_to_think_longer(cutoff):
    # long answers are the right ones, slope 1; Cov(p, z | z < c) and E[p z; z < c] by quadrature in scipy
    def mean(f):
        return integrate.quad(lambda z: f(z) * stats.norm.pdf(z), -9, cutoff)[0]

    p, mass = (lambda z: right(z, 1)), special.ndtr(cutoff)
    masked = mean(lambda z: p(z) * z) / mass - mean(p) * mean(lambda z: z) / mass**2
    assert straggler.masked_length_gradient(1, cutoff) == pytest.approx(masked, abs=2e-5)
    assert straggler.punished_length_gradient(1, cutoff) == pytest.approx(mean(lambda z: p(z) * z), abs=2e-5)
    assert 0 < straggler.masked_length_gradient(1, cutoff) < straggler.policy_gradient(1)[1]


def test_punishing_can_reverse_the_pull_to_think_longer():
    assert straggler.punished_length_gradient(1, 0.9) < 0 < straggler.punished_length_gradient(1, 1.0)


def test_without_a_cap_there_is_nothing_to_mask_or_punish():
    for slope in (-1.0, 0.5):
        assert straggler.masked_length_gradient(slope, 20.0) == pytest.approx(
            straggler.policy_gradient(slope)[1], abs=1e-9
        )
        assert straggler.punished_length_gradient(slope, 20.0) == pytest.approx(
            straggler.policy_gradient(slope)[1], abs=1e-9
        )


# Partial rollouts


def test_what_is_resumed_is_biased_in_the_first_step_only():
    steps = [straggler.resumed(8, 64, 96, 0.8, np.inf, 0.5, 40, np.random.default_rng(seed)) for seed in range(40)]
    first = np.mean([right(s.z[0], -1).mean() for s in steps])
    later = np.mean([right(s.z[15:], -1).mean() for s in steps])
    assert first == pytest.approx(straggler.trained_accuracy(-1, straggler.race_of_prompts(8, 64, 96, 0.5)), abs=0.01)
    assert later == pytest.approx(0.5, abs=0.005)


def test_what_is_resumed_mixes_weight_versions():
    run = straggler.resumed(8, 64, 96, 0.8, np.inf, 0.0, 40, np.random.default_rng(0))
    assert np.all(run.versions[0] == 1)
    assert 0.3 < np.mean(run.versions[10:] > 1) < 0.5
    assert run.time[10:].mean() < 0.4 * straggler.expected_max(512, 0.8)


def test_with_nothing_over_launched_every_step_waits_for_its_longest():
    run = straggler.resumed(8, 64, 64, 0.8, np.inf, 0.0, 3, np.random.default_rng(0))
    assert np.all(run.versions == 1)
    assert np.allclose(run.time, np.exp(0.8 * run.z.max(axis=(1, 2))), rtol=1e-12)


# Seconds


def test_two_sequences_take_as_long_as_the_longer_alone():
    # Qwen2.5-7B on an H100, no prompt: closed form, sums of (2P′ + KV bytes)/bandwidth + 1.5 ms
    for lengths, seconds in (([100, 100], 0.7130635889), ([50, 150], 1.0695383247), ([150], 1.0695097953)):
        assert straggler.drain(lengths, 0, decode)[0][-1] == pytest.approx(seconds, abs=5e-11)


def test_a_freed_slot_admits_the_next():
    # token by token, as an engine does it
    lengths, slots, prompt = [7, 3, 5, 2, 6, 4, 9, 1], 3, 20
    waiting, live, clock, finish = list(lengths), [], 0.0, []
    while waiting or live:
        while waiting and len(live) < slots:
            live.append([0, waiting.pop(0)])
        clock += decode(len(live), sum(prompt + done + 0.5 for done, _ in live))
        live = [[done + 1, length] for done, length in live]
        finish += [clock] * sum(done == length for done, length in live)
        live = [one for one in live if one[0] < one[1]]
    seconds, running = straggler.drain(lengths, prompt, decode, slots)
    assert seconds == pytest.approx(finish, rel=1e-12)
    assert list(running * 8) == [3, 3, 3, 3, 3, 3, 2, 1]


def test_a_slot_for_each_is_as_fast_as_more_than_enough():
    lengths = straggler.sampled_lengths(64, 1200, 0.8, 8192, np.random.default_rng(0))
    for slots in (64, 1000):
        assert np.array_equal(straggler.drain(lengths, 512, decode, slots)[0], straggler.drain(lengths, 512, decode)[0])
    ends = [straggler.drain(lengths, 512, decode, slots)[0][-1] for slots in (1, 4, 16, 64)]
    assert ends == sorted(ends, reverse=True)
    assert ends[0] == pytest.approx(sum(straggler.drain([one], 512, decode)[0][-1] for one in lengths), rel=1e-9)


def test_the_last_tenth_of_the_sequences_takes_half_of_the_time():
    # 64 sequences, σ 0.8, cap 8192, prompt 512: 52 % at mean occupancy 0.255 over seeds 0 to 39, 37 and 0.30 in seed 0
    # (reference computation in numpy)
    shares, occupancies = [], []
    for seed in range(40):
        finish, running = straggler.drain(
            straggler.sampled_lengths(64, 1200, 0.8, 8192, np.random.default_rng(seed)), 512, decode
        )
        shares.append(straggler.tail_of(finish, running)[0])
        occupancies.append((np.diff(finish, prepend=0.0) * running).sum() / finish[-1])
    assert (np.mean(shares), shares[0]) == (pytest.approx(0.52, abs=0.005), pytest.approx(0.37, abs=0.005))
    assert (np.mean(occupancies), occupancies[0]) == (pytest.approx(0.255, abs=0.005), pytest.approx(0.30, abs=0.005))


# The trainer


def test_the_overlong_penalty_is_linear_in_the_buffer():
    # DAPO eq. 13; TRL get_soft_overlong_punishment(20480, 4096): 16385 → −1/4096, 18432 → −0.5, 20000 → −0.8828125
    assert straggler.overlong_penalty(14336, 16384, 4096) == -0.5
    penalty = straggler.overlong_penalty(np.array([16000, 16384, 16385, 18432, 20000, 20480, 20481]), 20480, 4096)
    assert np.allclose(penalty, [0, 0, -1 / 4096, -0.5, -0.8828125, -1, -1], atol=1e-15)


def test_padding_wastes_eight_ninths_and_packing_one_hundredth():
    # seed 0: 0.116 and 51 rows of 16384 filled to 0.990 (reference computation in numpy)
    lengths = straggler.sampled_lengths(512, 1200, 0.8, 16384, np.random.default_rng(0))
    rows = straggler.packing(lengths, 16384)
    assert straggler.padding_efficiency(lengths) == pytest.approx(0.116, abs=5e-4)
    assert len(rows) == 51
    assert lengths.sum() / (51 * 16384) == pytest.approx(0.990, abs=5e-4)


def test_packing_loses_no_completion_and_overfills_no_row():
    lengths = straggler.sampled_lengths(300, 1200, 1.0, 8192, np.random.default_rng(3))
    rows = straggler.packing(lengths, 8192)
    assert sorted(i for row in rows for i in row) == list(range(300))
    assert all(lengths[row].sum() <= 8192 for row in rows)
    assert straggler.packing([5, 4, 3, 3, 3], 9) == [[0, 1], [2, 3, 4]]


def test_packing_does_not_split_a_completion():
    with pytest.raises(ValueError, match="longer than the budget"):
        straggler.packing([5, 10], 9)


def test_ranks_even_in_tokens_are_uneven_in_attention():
    # seed 0, 8 ranks: dealt in turn 1.25 in tokens, 1.92 in l²; longest first 1.00004; on 32 ranks 2.56, one completion
    # above a fair share
    lengths = straggler.sampled_lengths(512, 1200, 0.8, 16384, np.random.default_rng(0))
    square = lengths**2
    assert straggler.imbalance(straggler.dealt_loads(lengths, 8)) == pytest.approx(1.25, abs=0.005)
    assert straggler.imbalance(straggler.dealt_loads(square, 8)) == pytest.approx(1.92, abs=0.005)
    assert straggler.imbalance(straggler.longest_first_loads(square, 8)) == pytest.approx(1.00004, abs=5e-6)
    assert straggler.imbalance(straggler.longest_first_loads(square, 32)) == pytest.approx(2.56, abs=0.005)
    assert straggler.imbalance(straggler.longest_first_loads(square, 32)) == pytest.approx(
        square.max() / (square.sum() / 32), rel=1e-12
    )
