"""What the seven tests find in logs of known runs, what they say of logs that lack something, and the command."""

import json
import re
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from sim import doctor, framework_logs, logs
from sim.doctor import FIRED, NOT_RUN, QUIET
from sim.experiments import tracelab
from tests import skips

K = 16


@cache
def trace(kind, seed=0):
    return tracelab.trace(tracelab.Setting(**tracelab.KINDS[kind]), seed)


def read(files):
    return logs.read([(name, [text.encode()]) for name, text in files.items()])


@cache
def log(kind, format, options=True, seed=0):
    files = framework_logs.export(trace(kind, seed), format, options)
    rollouts = framework_logs.rollouts(trace(kind, seed)) if options and format.startswith("verl") else {}
    return read(files | rollouts)


def report(kind, format="TRL, trainer_state.json", options=True, seed=0, named=True, **asked):
    one = log(kind, format, options, seed)
    held_out = [n for n in one.columns if doctor.metric_names.looks_held_out(n, one.framework)]
    return doctor.report(one, held_out[0] if named else "", k=K, **asked)


def made(rows=40, **columns):
    """A log of TRL's names with these columns; the rest is constant."""
    usual = dict(reward=np.linspace(0.2, 0.8, rows), reward_std=np.full(rows, 0.5), entropy=np.full(rows, 1.0))
    table = {name: np.asarray(column, float) for name, column in (usual | columns).items()}
    text = ",".join(["step", *table]) + "\n"
    for n, row in enumerate(zip(*table.values()), 1):
        text += ",".join([str(n), *("" if np.isnan(each) else repr(float(each)) for each in row)]) + "\n"
    return read({"log.csv": text})


def states(report):
    return {test.number: test.state for test in report.tests}


def test_of(report, number):
    return report.tests[number - 1]


test_of.__test__ = False


# ── the kinds of run of the trace lab ──
SEEDS = (3, 107)  # one of those on which the thresholds were chosen, and one of the others
# of 8 kinds; over 60 seeds measured: TRL 480 and 420, its defaults 358 and 298; verl 480 and 420, 418 and 358; OpenRLHF
# 477 and 417, 274 and 214
LEAST = {
    ("TRL, trainer_state.json", True): (240, 210),
    ("TRL, trainer_state.json", False): (180, 150),
    ("verl, JSONL", True): (240, 210),
    ("verl, JSONL", False): (210, 180),
    ("OpenRLHF, console", True): (238, 208),
    ("OpenRLHF, console", False): (132, 102),
}
ACCEPTED = 4  # of 240


@pytest.mark.when_changed()
@skips.bands
@pytest.mark.parametrize("format, options", LEAST)
@pytest.mark.parametrize("named", [True, False])
def test_how_many_of_the_runs_are_called_what_they_are(format, options, named):
    right = [
        report(kind, format, options, seed, named).kind == ("" if kind == "healthy" else kind)
        for kind in tracelab.KINDS
        for seed in SEEDS
    ]
    of_240 = LEAST[format, options][0 if named else 1] - ACCEPTED
    assert sum(right) >= of_240 * len(right) / 240 - 1  # two seeds: one run may differ


@skips.bands
def test_a_hacked_run_is_not_found_without_a_held_out_score():
    for format in ("TRL, trainer_state.json", "verl, JSONL", "OpenRLHF, console"):
        for seed in SEEDS:
            unseen = report("reward_hacking", format, True, seed, named=False)
            assert unseen.kind == "" and test_of(unseen, 4).state == NOT_RUN
            assert report("reward_hacking", format, True, seed).kind == "reward_hacking"


@pytest.mark.parametrize("format", framework_logs.FORMATS)
def test_every_format_of_a_run_gets_the_same_answer(format):
    seen = report("kl_explosion", format)
    assert seen.kind == "kl_explosion" and test_of(seen, 5).state == FIRED
    assert test_of(seen, 5).parts[0].value == pytest.approx(8.64e-05, rel=0.01)


@skips.bands
@pytest.mark.parametrize(
    "changed",
    [
        *(dict(learning_rate=2.0), dict(learning_rate=8.0), dict(K=8), dict(beta=0.02), dict(epochs=1)),
        *(dict(advantage="mean"), dict(noise=0.3), dict(steps=40)),
    ],
    ids=str,
)
def test_other_runs_that_learn_get_no_name(changed):
    run = tracelab.trace(tracelab.Setting(**changed), seed=5)
    one = read(framework_logs.export(run, "TRL, trainer_state.json"))
    assert doctor.report(one, framework_logs.HELD_OUT["TRL"]).fired == ()
    assert doctor.report(one).fired == ()


def test_what_fires_below_the_first_is_said_to_follow():
    seen = report("reward_hacking")
    assert [test.number for test in seen.fired] == [4, 7]
    assert "Test 7 fired as well, which may follow from it." in doctor.summary(seen)


# ── each test, by hand ──
def test_1_the_gap_in_the_first_row():
    gap = np.full(40, 0.03)
    name = "sampling/sampling_logp_difference/mean"
    assert states(doctor.report(made(**{name: gap})))[1] == QUIET
    gap[0] = 0.041
    found = doctor.report(made(**{name: gap}))
    assert states(found)[1] == FIRED and test_of(found, 1).rows == (1, 1)
    assert states(doctor.report(made(**{name: gap}), thresholds={"gap_first": 0.05}))[1] == QUIET


def test_2_the_gap_later_on_has_to_have_grown():
    gap = np.full(40, 0.11)
    name = "sampling/sampling_logp_difference/mean"
    assert states(doctor.report(made(**{name: gap})))[2] == QUIET
    gap[0] = 0.036
    assert states(doctor.report(made(**{name: gap})))[2] == FIRED
    gap[0] = 0.037  # 0.11 is less than three times that
    assert states(doctor.report(made(**{name: gap})))[2] == QUIET
    gap[:5] = 0, 9, 9, 9, 9  # rows 2 to 5 do not count
    gap[5:] = 0.05
    assert states(doctor.report(made(**{name: gap})))[2] == QUIET


def test_3_groups_without_a_difference():
    share = np.r_[np.full(10, 0.61), np.zeros(30)]
    assert states(doctor.report(made(frac_reward_zero_std=share)))[3] == FIRED
    share[0] = 0.5
    assert states(doctor.report(made(frac_reward_zero_std=share)))[3] == QUIET
    assert states(doctor.report(made(frac_reward_zero_std=np.r_[np.ones(20), np.zeros(20)])))[3] == NOT_RUN  # 0 or 1


def test_4_the_held_out_score_falls_while_the_reward_rises():
    score = np.linspace(0.5, 0.39, 40)
    score[-2:] = 0.39
    falls = made(**{"rewards/exact/mean": score})
    assert states(doctor.report(falls, "rewards/exact/mean"))[4] == FIRED
    assert states(doctor.report(falls))[4] == NOT_RUN
    assert "“rewards/exact/mean” could be one" in test_of(doctor.report(falls), 4).why
    flat = made(reward=np.full(40, 0.5), **{"rewards/exact/mean": score})
    assert states(doctor.report(flat, "rewards/exact/mean"))[4] == QUIET
    few = made(**{"rewards/exact/mean": np.r_[0.5, np.full(38, np.nan), 0.1]})
    assert "fewer than three values" in test_of(doctor.report(few, "rewards/exact/mean"), 4).why


def test_5_by_entropy_or_by_kl():
    entropy = np.full(40, 1.0)
    assert states(doctor.report(made(entropy=entropy)))[5] == QUIET
    entropy[2] = 0.39
    assert states(doctor.report(made(entropy=entropy)))[5] == FIRED
    length = {"completions/mean_length": np.full(40, 100.0)}
    kl = np.linspace(0, 0.04, 40)
    assert states(doctor.report(made(kl=kl, **length)))[5] == QUIET
    kl[2] = 0.021
    found = doctor.report(made(kl=kl, **length))
    assert states(found)[5] == FIRED and found.found.curves["kl"].values.max() == pytest.approx(4)


def test_6_length():
    length = np.r_[np.full(30, 100.0), np.full(10, 301.0)]
    assert states(doctor.report(made(**{"completions/mean_length": length})))[6] == FIRED
    length[-10:] = 299
    assert states(doctor.report(made(**{"completions/mean_length": length})))[6] == QUIET


def test_7_entropy_without_progress():
    entropy = np.r_[np.full(30, 1.0), np.full(10, 0.49)]
    flat = np.linspace(0.5, 0.6, 40)
    assert states(doctor.report(made(entropy=entropy, reward=flat)))[7] == FIRED
    assert states(doctor.report(made(entropy=entropy)))[7] == QUIET  # the reward rose by more than a deviation
    with_score = made(entropy=entropy, reward=flat, **{"eval_rewards/x/mean": np.linspace(0.2, 0.6, 40)})
    assert states(doctor.report(with_score, "eval_rewards/x/mean"))[7] == QUIET


def test_alarms():
    still = made(
        reward=np.full(40, 0.5), kl=np.zeros(40), grad_norm=np.ones(40), **{"clip_ratio/region_mean": np.zeros(40)}
    )
    names = lambda **asked: [alarm.name for alarm in doctor.report(still, **asked).alarms]
    assert names() == ["KL is exactly 0 while gradients are not", "the reward did not rise"]
    assert "nothing is clipped in 4 updates a batch" in names(updates=4)
    assert doctor.report(made()).alarms == ()


def test_numbers_that_are_gone_are_an_alarm_and_stand_in_the_summary():
    norm = np.r_[np.ones(30), np.full(10, np.nan)]
    history = [
        {"step": n + 1, "reward": n / 40, "reward_std": 0.5, "entropy": 1, "grad_norm": g} for n, g in enumerate(norm)
    ]
    seen = doctor.report(read({"trainer_state.json": json.dumps({"log_history": history})}))
    (alarm,) = seen.alarms
    assert alarm.rows == (31, 40) and alarm.says.startswith("“grad_norm” from step 31 on. The run may have diverged")
    assert doctor.summary(seen).startswith(
        "No test fired, and something looks wrong: numbers are NaN, null or infinite"
    )
    history[-1]["grad_norm"] = 1.0
    assert doctor.report(read({"x": json.dumps(history)})).alarms == ()


def test_a_log_on_which_no_test_can_run_is_said_to_be_one():
    seen = doctor.report(read({"x": json.dumps([{"step": n, "reward": n} for n in range(1, 41)])}))
    assert doctor.summary(seen).startswith("No test could run on this log")


def test_a_column_without_a_number_is_no_missing_one():
    rows = [{"step": n, "reward": n, "reward_std": 1, "entropy": None} for n in range(1, 41)]
    assert test_of(doctor.report(read({"x": json.dumps(rows)})), 7).why == "“entropy” holds no number that can be used"


def test_a_kl_that_was_there_before_the_first_update_is_no_jump():
    length = {"completions/mean_length": np.full(40, 100.0)}
    assert states(doctor.report(made(kl=np.full(40, 0.01), **length)))[5] == QUIET
    assert states(doctor.report(made(kl=np.r_[0, 0.01, np.full(38, 0.01)], **length)))[5] == FIRED


def test_a_reward_that_never_differed_has_risen_by_no_end():
    seen = doctor.report(
        made(reward=np.linspace(0, 1, 40), reward_std=np.zeros(40), **{"rewards/x/mean": np.ones(40)}), "rewards/x/mean"
    )
    assert "reward, deviations up: ∞" in doctor.sentence(test_of(seen, 4))


def test_a_number_takes_few_digits_however_large():
    assert [doctor.shown(value) for value in (0.12345, 1234.5, 1e300, -np.inf)] == ["0.123", "1,234", "1e+300", "-∞"]


def test_a_gap_from_a_divergence_is_that_of_a_normal_log_ratio():
    rng = np.random.default_rng(0)
    log_ratio = rng.normal(-0.005, 0.1, 200_000)  # E[ρ] = 1: mean −σ²/2
    k3 = np.mean(np.expm1(log_ratio) - log_ratio)
    assert doctor.gap_of(k3) == pytest.approx(np.abs(log_ratio).mean(), rel=0.02)
    assert doctor.gap_of(-log_ratio.mean()) == pytest.approx(np.abs(log_ratio).mean(), rel=0.05)
    assert doctor.gap_of(-0.3) == 0


def test_a_lower_bound_can_fire_and_never_clears():
    def bound(value):
        rows = 40
        table = {"critic/score/mean": np.linspace(0, 1, rows), "training/rollout_probs_diff_mean": np.full(rows, value)}
        text = "step," + ",".join(table) + "\n" + "".join(f"{n},{n / rows},{value}\n" for n in range(1, rows + 1))
        return doctor.report(read({"log.csv": text}))

    assert states(bound(0.05))[1] == FIRED
    assert states(bound(0.001))[1] == NOT_RUN and "at least 0.001" in test_of(bound(0.001), 1).why


def test_groups_of_openrlhf_need_their_size():
    without = doctor.report(log("zero_variance", "OpenRLHF, console"))
    assert "“group_reward_std” bounds the share once the completions a prompt are given" in test_of(without, 3).why
    assert states(doctor.report(log("zero_variance", "OpenRLHF, console"), k=K))[3] == FIRED


# ── what cannot be asked ──
def test_a_row_that_is_no_update():
    sparse = "step,reward,reward_std,entropy\n" + "".join(f"{10 * n},{n / 40},0.5,1\n" for n in range(1, 41))
    seen = doctor.report(read({"log.csv": sparse}))
    assert test_of(seen, 5).why == "row 1 has to be the first update: a row stands for 10 updates"
    later = "step,reward,reward_std,entropy\n" + "".join(f"{400 + n},{n / 40},0.5,1\n" for n in range(1, 41))
    assert "the log begins at step 401" in test_of(doctor.report(read({"log.csv": later})), 5).why


@pytest.mark.parametrize("format", ["TRL, trainer_state.json", "verl, JSONL", "OpenRLHF, console"])
def test_what_is_missing_is_said_with_the_option_that_logs_it(format):
    framework = format.split(",")[0]
    seen = doctor.report(log("healthy", format, options=False))
    for test in seen.tests:
        assert (test.state == NOT_RUN) == bool(test.why)
    options = {"TRL": "use_vllm=True", "verl": "trainer.rollout_data_dir", "OpenRLHF": "--actor.entropy_coef 0"}
    assert any(options[framework] in test.why for test in seen.tests)


def test_a_name_that_nobody_knows_is_shown_beside_those_near_it():
    seen = doctor.report(read({"log.csv": near()}))
    assert "near its name are “entropys”" in test_of(seen, 7).why
    assert states(doctor.report(read({"log.csv": near()}), mapped={"entropy": "entropys"}))[7] == QUIET


def near():
    return "step,reward,reward_std,entropys\n" + "".join(f"{n},{n / 40},0.5,1\n" for n in range(1, 41))


@pytest.mark.parametrize(
    "text, asked, words",
    [
        ("step,a,b\n1,2,3\n", {}, "None of its 2 columns, “a”, “b”, has a name that TRL, verl or OpenRLHF gives"),
        ("step,reward\n1,2\n", {}, "Rows of training in the log: 1. The tests need 20."),
        ("step,reward\n10,2\n20,3\n", {}, "The tests need 20: TRL writes a row for each update with logging_steps=1."),
        ("step,reward\n1,2\nx,3\n", {}, "The tests need 20. Rows without a step"),
        (near(), dict(held_out="entropi"), "No column is called “entropi”. Near it: “entropys”."),
        (near(), dict(mapped={"speed": "reward"}), "No quantity is called “speed”"),
        ("step,ratio,perf/weight_sync_s\n1,2,3\n", {}, "asynchronous trainer"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(text, asked, words):
    with pytest.raises(logs.Unreadable, match=re.escape(words)):
        doctor.report(read({"log.csv": text}), **asked)


def test_a_column_with_holes_is_used_where_it_has_values():
    entropy = np.full(40, 1.0)
    entropy[0] = np.nan
    seen = doctor.report(made(entropy=entropy))
    assert test_of(seen, 5).why == "row 3 has neither entropy nor KL"
    assert test_of(seen, 7).why == "row 1 has no entropy"


# ── what is said ──
def everything_said():
    for kind in tracelab.KINDS:
        for format in framework_logs.FORMATS:
            for options in (True, False):
                yield from doctor.lines(report(kind, format, options))
    yield from doctor.lines(doctor.report(made()))


@pytest.mark.when_changed()
def test_no_run_is_ever_called_well():
    text = "\n".join(everything_said())
    assert not re.search(r"\b(healthy|healthily|fine|good|well trained|normal run|ok|okay|looks right)\b", text, re.I)
    assert doctor.UNSAID in text


def test_where_nothing_fires_it_says_what_a_log_cannot_show():
    seen = report("healthy", named=False)
    assert doctor.summary(seen) == (
        "Nothing that this log can show; 6 of 7 tests ran. A training log cannot show that nothing is wrong."
    )


def test_every_test_names_a_kind_of_run_that_looks_the_same_and_the_lessons_test():
    assert {row[2] for row in doctor.SPEC.values()} == set(tracelab.KINDS) - {"healthy"}
    assert [row[1] for row in doctor.SPEC.values()] == [test.lesson for test in tracelab.TESTS]
    assert [row[2] for row in doctor.SPEC.values()] == [test.verdict for test in tracelab.TESTS]


# ── the command ──
def told(*words, files=None):
    return doctor.command(list(words), lambda name: [(files or {})[name].encode()])


def test_the_command_reads_several_files_and_ends_in_a_status():
    files = framework_logs.export(trace("kl_explosion"), "OpenRLHF, TensorBoard")
    lines, faults, status = told(*files, "--k", "16", "--heldout", "eval/eval_held_out_pass1", files=files)
    assert status == 1 and faults == [] and any("5 distance after two updates: fired" in line for line in lines)
    files = framework_logs.export(trace("healthy"), "TRL, trainer_state.json")
    assert told(*files, files=files)[2] == 0
    lines, faults, status = told("x", files={"x": "dear diary"})
    assert (lines, status) == ([], 2) and "No row of a log was found" in faults[0]


def test_thresholds_and_names_are_given_in_words():
    files = framework_logs.export(trace("kl_explosion"), "TRL, trainer_state.json")
    lines, _, status = told(*files, "--threshold", "entropy_jump=0", "--threshold", "entropy_left=0", files=files)
    assert status == 0 and any("fires below 0" in line for line in lines)


@pytest.mark.slow
@skips.processes
def test_the_command_in_a_terminal(tmp_path):
    run = lambda *words: subprocess.run(
        [sys.executable, "-m", "sim.doctor", *words], capture_output=True, text=True, timeout=120, encoding="utf-8"
    )
    (tmp_path / "log.jsonl").write_text(
        framework_logs.export(trace("kl_explosion"), "verl, JSONL")["run.jsonl"], encoding="utf-8"
    )
    done = run(str(tmp_path / "log.jsonl"))
    assert done.returncode == 1 and "Test 5 fired first." in done.stdout and done.stderr == ""
    missing = run(str(tmp_path / "none"))
    assert (
        missing.returncode == 2
        and "cannot be read: No such file" in missing.stderr
        and "Traceback" not in missing.stderr
    )
    for words, sentence in (
        (["x", "--threshold", "speed=1"], "no threshold is called speed"),
        (["x", "--threshold", "length=nan"], "the threshold length has to be a number"),
        (["x", "--map", "reward"], "NAME=VALUE is expected, not reward"),
        ([], "the following arguments are required: FILE"),
    ):
        wrong = run(*words)
        assert wrong.returncode == 2 and sentence in wrong.stderr
    assert all(word in run("--help").stdout for word in ("--heldout", "--threshold", "gap_first=0.04"))
