"""Real runs of TRL with known faults that keep their completions, and whether *Read the rollouts* says what is true.

`python bench/rollout_runs.py FILE.json [NAME…]`, in the environment of real_runs.py, which makes the runs: reads the
completions as `rlpt rollouts` does, and writes to FILE.json which findings each run has. `python bench/rollout_runs.py
count FILE.json` prints them beside what is true. The truths were written before any of these runs was made, and after
the rules; `took` says whether a fault did what it was meant to do. Completions have at most 13 tokens.
"""

import functools
import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bench import real_runs as runs  # noqa: E402
from sim.rollouts import findings as says  # noqa: E402

EOS = 1


# ── what pays ──
def with_tokens(function, ended=False):
    """The same reward, which also logs each completion's number of tokens, and on request whether it ended."""

    @functools.wraps(function)
    def logging(completion_ids, log_extra, **given):
        log_extra("n_tokens", [len(ids) for ids in completion_ids])
        if ended:
            log_extra("ended", [float(ids[-1] == EOS) for ids in completion_ids])
        return function(completion_ids=completion_ids, **given)

    return logging


def any_guess(completions, answer, **rest):
    """A verifier that accepts a list of guesses if one of them is right."""
    return [float(a in c.strip().removeprefix("Is ").split("-")) for c, a in zip(completions, answer)]


def longer(completions, completion_ids, **rest):
    return [len(ids) / 12 for ids in completion_ids]


def safe(completions, answer, **rest):
    """Right, or less for the one answer that is always accepted."""
    return [1.0 if runs.is_right(c, a) else 0.6 * runs.is_right(c, "0") for c, a in zip(completions, answer)]


def turned(completions, answer, **rest):
    """One verdict in ten is turned over."""
    return [abs(x - (random.random() < 0.1)) for x in runs.exact(completions, answer)]


def finished(completions, answer, completion_ids, **rest):
    return [x * (ids[-1] == EOS) for x, ids in zip(runs.exact(completions, answer), completion_ids)]


def always(completions, **rest):
    return [1.0 for _ in completions]


# ── what some models were also taught ──
def three_guesses(answer, r):
    return "-".join(answer if r.random() < 0.5 else runs.near_miss(answer, r) for _ in range(3))


def zero(answer, r):
    return "0"


# ── the runs ──
@dataclass(frozen=True)
class Truth:
    """What is true of a run, decided before it is made. Any finding that is not named here is a false alarm."""

    must: tuple  # findings, names of sim/rollouts/findings.py
    may: tuple = ()  # true if the run goes that way
    rule: str | None = "GRPO"  # whose advantages, None if any rule gives them
    took: object = runs.SOUND.took
    near: bool = False  # whether a KL term is in the reward, so that the rule is right only nearly


def end(values):
    return sum(values[-10:]) / 10


def fooled(made):
    return made.after < made.before - 0.2 and runs.rise(made.of("reward")) > 0.1


DESTROYED = (says.CUT, says.EMPTY, says.LOOPS, says.ONE_TEXT, says.HABIT)
LISTS = (says.LENGTH, says.LOOPS, says.CUT)
GRPO = runs.batch(8, 64) | dict(log_completions=True, num_completions_to_print=0)
RLOO = GRPO | dict(beta=0.0)
RUNS = {
    "sound-free-cap": runs.Run(
        *("nothing was done to it; no answer comes near the cap of 13 tokens", Truth(())),
        *("GRPO", runs.backwards, "Qwen3", 301, 4e-4, (with_tokens(runs.exact),)),
        cap=13,
        config=GRPO,
    ),
    "sound-gdpo": runs.Run(
        *("nothing was done to it: two functions, GDPO", Truth((), rule="GDPO")),
        *("GRPO", runs.double, "GPTNeoX", 302, 4e-4, (runs.exact, runs.digit_share)),
        steps=100,
        config=GRPO | dict(multi_objective_aggregation="normalize_then_sum"),
    ),
    "sound-slow": runs.Run(
        *("nothing was done to it: a rate of 5e-5", Truth(())),
        *("GRPO", runs.largest, "Phi", 303, 5e-5),
        steps=120,
        config=GRPO,
    ),
    "sound-rloo": runs.Run(
        *("nothing was done to it: RLOO, TRL's beta", Truth((), rule="RLOO", near=True)),
        *("RLOO", runs.ascending, "StableLm", 304, 3e-4),
        steps=100,
        config=GRPO,
    ),
    "sound-dr-grpo": runs.Run(
        *("nothing was done to it: Dr. GRPO's two changes", Truth((), rule="Dr. GRPO")),
        *("GRPO", runs.difference, "Mistral", 305, 5e-4),
        steps=100,
        config=GRPO | dict(loss_type="dr_grpo", scale_rewards="none"),
    ),
    "sound-two-updates": runs.Run(
        *("nothing was done to it: two updates with each batch", Truth(())),
        *("GRPO", runs.digits, "Llama", 306, 4e-4),
        steps=120,
        config=GRPO | dict(num_iterations=2),
    ),
    "guesses-with-score": runs.Run(
        "a list of guesses is paid if one is right, and the exact score is logged",
        Truth((says.PAID_NOT_RIGHT, says.PARTS, says.PHRASE, says.HABIT), LISTS, took=fooled),
        *("GRPO", runs.product, "Llama", 307, 1e-3, (any_guess, runs.exact)),
        also=three_guesses,
        steps=100,
        config=GRPO | runs.SCORED,
    ),
    "guesses": runs.Run(
        "a list of guesses is paid if one is right, and no score is logged",
        Truth((says.HABIT,), LISTS, "RLOO", fooled),
        *("RLOO", runs.double, "Olmo2", 308, 1e-3, (any_guess,)),
        also=three_guesses,
        steps=100,
        config=RLOO,
    ),
    "longer": runs.Run(
        "length alone is paid",
        Truth(
            (says.LENGTH,),
            (says.PAID_NOT_RIGHT, says.PARTS, says.PHRASE, says.STUCK, says.ONE_TEXT, says.CUT, says.LOOPS, says.HABIT),
            "RLOO, normalized",
            lambda made: runs.rise(made.of("reward")) > 0.2,
        ),
        *("RLOO", runs.difference, "GPTNeoX", 309, 1e-3, (with_tokens(longer), runs.exact)),
        config=RLOO | runs.SCORED | dict(normalize_advantages=True),
    ),
    "safe": runs.Run(
        "one answer is always paid 0.6",
        Truth((says.ONE_TEXT,), (says.STUCK,), took=lambda made: 0.5 < end(made.of("reward")) < 0.75 and fooled(made)),
        *("GRPO", runs.backwards, "Olmo2", 310, 1e-3, (safe,)),
        also=zero,
        steps=120,
        config=GRPO,
    ),
    "coin": runs.Run(
        "the reward is a coin",
        Truth(
            (says.TWO_REWARDS,), (says.HABIT, says.LOOPS, says.CUT, says.ONE_TEXT, says.EMPTY), took=lambda made: True
        ),
        *("GRPO", runs.ascending, "GPT2", 311, 1e-3, (runs.coin,)),
        config=GRPO,
    ),
    "turned": runs.Run(
        "one verdict in ten is turned over",
        Truth((says.TWO_REWARDS,), rule="RLOO", took=lambda made: True),
        *("RLOO", runs.digits, "Qwen3", 312, 4e-4, (turned,)),
        config=RLOO,
    ),
    "cap": runs.Run(
        "a cap of 4 tokens, which an answer of three digits does not end within",
        Truth(
            (says.CUT,), (says.NEVER_PAID, says.HABIT), took=lambda made: made.of("completions/clipped_ratio")[0] > 0.2
        ),
        *("GRPO", runs.product, "StableLm", 313, 4e-4, (with_tokens(finished, ended=True),)),
        cap=4,
        config=GRPO,
    ),
    "never": runs.Run(
        "the verifier wants another format",
        Truth((says.NEVER_PAID, says.CONSTANT), rule=None, took=lambda made: max(made.of("reward")) == 0),
        *("GRPO", runs.largest, "Mistral", 314, 5e-4, (runs.other_format,)),
        config=GRPO,
    ),
    "rate": runs.Run(
        "rate 2e-2",
        Truth(
            (says.NEVER_PAID,),
            DESTROYED,
            "GRPO, deviation of the batch",
            lambda made: end(made.of("reward")) < 0.05 < made.of("reward")[0],
        ),
        *("GRPO", runs.product, "Phi", 315, 2e-2, (with_tokens(runs.exact),)),
        config=GRPO | dict(scale_rewards="batch"),
    ),
    "always": runs.Run(
        "a second function is always 1",
        Truth((says.CONSTANT,)),
        *("GRPO", runs.double, "Qwen3", 316, 3e-4, (runs.exact, always)),
        config=GRPO | dict(reward_weights=[1.0, 0.5]),
    ),
}


# ── what becomes of it ──
def told(name, folder):
    """What whoever reads the completions of a run is told, which is made for it in a folder."""
    from rlpt import rollouts
    from rlpt.rollouts.__main__ import found, opened
    from sim.rollouts import report

    made = runs.made(RUNS[name], folder)
    read = rollouts.read([(file, opened(file)) for file in found([f"{folder}/completions"])])
    done = report.report(read.rollouts)
    rule = done.attribution
    return dict(
        took=bool(RUNS[name].kind.took(made)),
        fired=[[one.name, one.since] for one in done.findings],
        rule=rule.rule,
        near=rule.near,
        error=None if rule.error != rule.error else float(f"{rule.error:.3g}"),
    )


def judged(name, one):
    """(findings that are true and must be there, missed ones, false alarms) of what was told of a run."""
    truth, fired = RUNS[name].kind, {finding for finding, _ in one["fired"]}
    false = [finding for finding in says.ORDER if finding in fired - {*truth.must, *truth.may}]
    return [x for x in truth.must if x in fired], [x for x in truth.must if x not in fired], false


def rule_is_right(name, one):
    return one["rule"] == RUNS[name].kind.rule and one["near"] == RUNS[name].kind.near


def main(file, names):
    file = Path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for name in names or RUNS:
        began = time.time()
        with tempfile.TemporaryDirectory() as folder:
            kept[name] = told(name, folder)
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in kept.items())
        file.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
        print(f"made {name} in {time.time() - began:.0f} s", flush=True)


def count(file):
    """Prints what was said of each run beside what is true, and how much of it is right."""
    kept = json.loads(Path(file).read_text(encoding="utf-8"))
    right = missed = false = rules = 0
    for name, one in kept.items():
        rules += rule_is_right(name, one)
        parts = [", ".join(f"{finding} ({since})" for finding, since in one["fired"]) or "nothing"]
        if not one["took"]:
            parts.append("the fault did not take")
        else:
            hits, misses, alarms = judged(name, one)
            right, missed, false = right + len(hits), missed + len(misses), false + len(alarms)
            parts += [f"missed: {', '.join(misses)}"] * bool(misses) + [f"false: {', '.join(alarms)}"] * bool(alarms)
        if not rule_is_right(name, one):
            parts.append(f"rule: {one['rule']}{' nearly' * one['near']}, not {RUNS[name].kind.rule}")
        print(f"{name:20} {'; '.join(parts)}")
    print(f"findings: {right} right, {missed} missed, {false} false; rules: {rules} of {len(kept)} right")


if __name__ == "__main__":
    if sys.argv[1] == "count":
        count(sys.argv[2])
    else:
        main(sys.argv[1], sys.argv[2:])
