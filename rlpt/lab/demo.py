"""`python -m rlpt.lab demo PAGE`: the log behind a page of the Lab, as a file that a class can read."""

import argparse
import csv
import io
import json
import sys

from rlpt.arguments import Parser, guarded, whole
from rlpt.lab import runs
from sim.lab import arms, eight_actions, packs, selection, two_steps
from sim.verifiers import checkers
from sim.worlds.scorer import score

PICKERS = {"exact": score, "occurs": checkers.substring}
N = 8
SEED, RATE, DRAWS = 7, 0.4, 10  # of M1
START, UPDATES = 0.5, 200  # of M2
SIGN = "A positive advantage makes the drawn arm more likely, a negative one less likely, and 0 changes nothing."
MOVES = ("grow", "shrink", "stay")
README = """Each line is one of the Lab's forty prompts, for which the best of eight answers was picked.
"picked" is the sample id, "reward" what the picker's scorer paid, "tie" whether another sample was paid as much.
"correct" is what the strict scorer says of the pick. The picker never sees it.
The policy has not changed: with one sample for each prompt, 22 of 40 are correct.
"""
EPILOG = """select    selection_demo.jsonl with a README: for each prompt, which of eight samples was picked (M0.5)
bandit    bandit_train_log.jsonl: ten pushes of a policy with four arms (M1)
two-step  toy_mdp_log.jsonl: 200 updates of a policy with two decisions (M2)
kl        kl_tradeoff.csv: what the best policy earns at each price of a nat (M3)
"""


def parser(program):
    made = Parser(
        prog=program,
        usage=f"{program} select|bandit|two-step|kl [OPTION …]",
        description="Writes the log of a page of the Lab into a new folder.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("page", choices=LOGS, metavar="select|bandit|two-step|kl", help="the log, listed below")
    add("--picker", choices=PICKERS, default="exact", help="of select: one exact line, or the answer occurs somewhere")
    add("--seed", type=whole(0, 2**32 - 1), default=SEED, metavar="S", help=f"of bandit, default {SEED}")
    add("--slow", action="store_true", help="of bandit: ask for a prediction before each push")
    add("--summary", action="store_true", help="of bandit: print one line for each push")
    add("--out", default="runs", metavar="FOLDER", help="where the folder is made, default runs")
    return made


def main(words=None, program="python -m rlpt.lab demo"):
    made = parser(program)
    asked = made.parse_args(words)
    if asked.page != "bandit" and (asked.slow or asked.summary or asked.seed != SEED):
        made.error("--seed, --slow and --summary belong to demo bandit")
    if asked.page != "select" and asked.picker != "exact":
        made.error("--picker belongs to demo select")
    with guarded(made, left=0):
        files = LOGS[asked.page](asked)
        print(runs.folder(asked.out, asked.page.replace("-", "_"), files))
        return 0


def in_lines(rows):
    return "".join(json.dumps({name: rounded(value) for name, value in row.items()}) + "\n" for row in rows)


def rounded(value):
    """Numbers with twelve decimals, because the last bits of a power depend on the processor."""
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 12) if isinstance(value, float) else value


# ── M0.5 ──
def picked(asked):
    judge = PICKERS[asked.picker]
    picks = selection.table(selection.first_best, judge, [N])[0].ids
    rows = []
    for example, samples, why, pick in zip(packs.examples(), packs.rollouts(), packs.reasons(), picks, strict=True):
        answer = {"expected_answer": example.expected_answer}
        paid = [checkers.reward_of(judge, answer, sample.completion)[0] for sample in samples]
        rows.append(
            {
                **{"example_id": example.id, "picker": asked.picker, "picked": pick, "reward": paid[pick]},
                **{"tie": paid.count(paid[pick]) > 1, "correct": why[pick] == "ok"},
            }
        )
    return {"selection_demo.jsonl": in_lines(rows), "README.md": README}


# ── M1 ──
def pushed(asked):
    rows, guessed = [{"note": SIGN}], 0
    if asked.slow or asked.summary:
        print(SIGN)
    for step, push in enumerate(arms.pushes(asked.seed, RATE, arms.running_mean, DRAWS), 1):
        told = f"draw {step}: arm {push.arm + 1}, reward {push.reward:g}, baseline {push.baseline:.2f}"
        change = f"arm {push.arm + 1} from {push.before[push.arm]:.3f} to {push.after[push.arm]:.3f}"
        if asked.slow:
            guessed += predicted(told, push)
        if asked.slow or asked.summary:
            print(f"{told}, advantage {push.advantage:+.2f}: {change}")
        rows.append(
            {
                **{"step": step, "arm": push.arm + 1, "reward": push.reward, "baseline": push.baseline},
                **{"advantage": push.advantage, "before": push.before.tolist(), "after": push.after.tolist()},
            }
        )
    if asked.slow:
        print(f"{guessed} of {DRAWS} predicted")
    return {"bandit_train_log.jsonl": in_lines(rows)}


def predicted(told, push):
    """Asks for the move of the drawn arm, and returns whether it was right; an empty line or the end is no guess."""
    right = MOVES[2] if push.advantage == 0 else MOVES[push.advantage < 0]
    sys.stdout.write(f"{told}. Does its share {', '.join(MOVES)}? ")
    sys.stdout.flush()
    said = sys.stdin.readline().strip().lower() if sys.stdin else ""
    matching = [move for move in MOVES if said and move.startswith(said)]
    if not sys.stdin or not sys.stdin.isatty():
        print()
    return matching == [right]


# ── M2 ──
def climbed(asked):
    names = ("p_first", "p_second", "mean_reward", "push_first", "push_second")
    rows = two_steps.climb(START, START, 1.0, UPDATES).tolist()
    return {"toy_mdp_log.jsonl": in_lines({"update": i, **dict(zip(names, row))} for i, row in enumerate(rows))}


# ── M3 ──
def leashed(asked):
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["beta", "paid", "worth", "kl_nats", "top_three"])
    for price in eight_actions.PRICES:
        policy = eight_actions.leashed(price)
        top = (-policy).argsort(kind="stable")[:3] + 1
        table.writerow([price, *(f"{value:.6f}" for value in eight_actions.outcome(policy)), " ".join(map(str, top))])
    return {"kl_tradeoff.csv": out.getvalue()}


LOGS = {"select": picked, "bandit": pushed, "two-step": climbed, "kl": leashed}
