"""What `python -m rlpt.run` and `python -m rlpt.framework` share: their options, and a run that can be interrupted and
resumed. Nothing here prints or opens a file; run.py does.

Learning rates are our own settings and not a model: those of the tasks, and for the other optimizer roughly the fastest
of 0.1, 0.3, 1 and 3 (SGD) that did not collapse, with GRPO and seed 0.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rlpt.arguments import Parser, number, whole
from sim.algorithms import dr_grpo, grpo, recipes, reinforce
from sim.algorithms.names import FILES, differing
from sim.experiments import mismatch
from sim.experiments.standard_runs import ADAMW_RATE, add_run, modsum_run
from sim.framework import checkpoint, metrics, record
from sim.framework.evaluation import INTERVAL, Evaluation, evaluated
from sim.framework.weight_sync import WeightSync
from sim.worlds import modsum, tasks
from sim.worlds.optimizer import SGD, AdamW
from sim.worlds.policies import POLICIES, RATES

ALGORITHMS = {file.__name__.rpartition(".")[2]: file for file in FILES.values()}
EVALUATED = 320  # completions per evaluation; the interval is then at most 0.11 wide
DIVISORS = {"group": grpo.advantage, "batch": recipes.over_batch_std, "none": dr_grpo.advantage}
# {TRL's name: the book's name} of the corrections that TRL has a name for
CORRECTIONS = {
    "token_truncate": "token ratio, at most 2",
    "token_mask": "token mask, 0.5 to 2",
    "sequence_truncate": "answer ratio, at most 2",
    "sequence_mask": "answer mask, at most 3",
}
NO_RANKING = (
    "Learning rates belong to the task and are not tuned for each file: two such runs do not rank two algorithms."
)


@dataclass(frozen=True)
class Standard:
    """A task and the defaults of a run on it."""

    prompts: np.ndarray  # all prompts
    kept_out: np.ndarray  # prompts that training never samples, whatever the seed
    optimizer: str
    rates: dict  # {optimizer: learning rate}
    clip: float | None  # maximum of the gradient's norm


TASKS = {
    # two pairs for each first digit and two for each second digit
    "add": Standard(
        *(tasks.PAIRS, tasks.PAIRS[(tasks.PAIRS // 10 + 2 * (tasks.PAIRS % 10)) % 5 == 0]),
        *("adamw", RATES["window"], 1.0),
    ),
    "lookup": Standard(tasks.KEYS, tasks.KEYS[[4, 9]], "adamw", dict(sgd=0.3, adamw=0.02), 1.0),
    # the policy is a table with separate rows for each prompt: nothing is learned about this one
    "modsum": Standard(modsum.PROMPTS, modsum.PROMPTS[[1]], "sgd", dict(sgd=2.0, adamw=2.0 * ADAMW_RATE), None),
}


# ── the options ──
def parser(program, first, description, epilog):
    """A Parser with the options of a run; a wrong option ends in a sentence and status 2."""
    made = Parser(
        prog=program,
        usage=" ".join(filter(None, [program, first, "[OPTION …]"])),
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run = made.add_argument_group("training").add_argument
    run("--updates", type=whole(1, 1_000_000), default=100, metavar="N", help="iterations of the loop, default 100")
    run(
        "--seed",
        type=whole(0, 2**32 - 1),
        default=0,
        metavar="S",
        help="seed of everything random in the run, default 0",
    )
    run("--K", type=whole(1, 512), default=8, metavar="K", help="completions per prompt, default 8")
    run(
        "--passes",
        type=whole(1, 64),
        metavar="P",
        help="passes over each batch (inner epochs), default: as in the algorithm file",
    )
    run(
        "--beta",
        type=number(0, 100),
        metavar="B",
        help="KL coefficient, the weight of the KL to the reference, default: as in the algorithm file",
    )
    run("--lam", type=number(0, 1), metavar="L", help="λ of a critic's advantages, default: as in the file")
    run(
        "--scale-rewards",
        choices=DIVISORS,
        help="divide a reward minus its group's mean by the standard deviation of the group or the batch, or by none, "
        "default: as in the algorithm file",
    )
    run(
        "--correction",
        choices=CORRECTIONS,
        help="correct for samples from older weights, in place of the file's own ratio and clip, default: do not",
    )
    run(
        "--lag",
        type=whole(0, 100),
        default=0,
        metavar="L",
        help="number of updates by which the sampler's weights are behind, default 0",
    )
    run(
        "--policy",
        choices=POLICIES,
        default="window",
        help="the model that learns to add, default window; a critic is always a window",
    )
    run("--optimizer", choices=("sgd", "adamw"), help="default: sgd for modsum, adamw for other tasks")
    run("--learning-rate", type=number(1e-6, 1e3), metavar="R", help="default: the task's rate for this optimizer")
    run(
        "--micro-batches",
        type=whole(1, 4096),
        default=1,
        metavar="M",
        help="number of parts of a batch over which its gradient is summed, default 1",
    )
    kept = made.add_argument_group("evaluation, log and checkpoint").add_argument
    kept(
        "--eval-every",
        type=whole(0, 1_000_000),
        default=10,
        metavar="N",
        help="updates between evaluations on prompts that training never samples, default 10; 0: evaluate never, and "
        "train on all prompts",
    )
    kept("--log", metavar="FILE", help="write JSON Lines, one row per update, with TRL's names: rlpt doctor reads them")
    kept(
        "--checkpoint",
        metavar="FILE",
        help="save the whole state of the run; if FILE exists, the run resumes from it and ends with the same bits",
    )
    kept(
        "--checkpoint-every",
        type=whole(1, 1_000_000),
        default=10,
        metavar="N",
        help="updates between two checkpoints, default 10",
    )
    return made


def refuse_the_impossible(made, chosen):
    """Exits with one sentence and status 2 if options contradict each other."""
    file = ALGORITHMS[chosen.algorithm]
    if chosen.policy != "window" and chosen.task != "add":
        made.error(f"--policy {chosen.policy} needs --task add, the only task with weights for it to start from")
    if chosen.beta and "kl_term" not in differing(file, reinforce):
        having = [name for name, each in ALGORITHMS.items() if "kl_term" in differing(each, reinforce)]
        made.error(
            f"--beta must be 0 for {chosen.algorithm}, not {chosen.beta:g}: only {', '.join(having)} has a KL term"
        )
    if chosen.lam is not None and "lam" not in file.HP:
        having = [name for name, each in ALGORITHMS.items() if "lam" in each.HP]
        made.error(f"--lam needs a critic: only {', '.join(having)} has one, not {chosen.algorithm}")
    if chosen.scale_rewards and not less_the_mean(file):
        having = [name for name, each in ALGORITHMS.items() if less_the_mean(each)]
        made.error(
            f"--scale-rewards needs rewards minus their group's mean, as in {', '.join(having)}, not {chosen.algorithm}"
        )
    if chosen.log and chosen.checkpoint and Path(chosen.log).resolve() == Path(chosen.checkpoint).resolve():
        made.error("--log and --checkpoint must be two different files")


def less_the_mean(file):
    """Whether advantages are rewards minus their group's mean, divided by something or not."""
    return any("advantage" not in differing(file, other) for other in (grpo, dr_grpo))


# ── the run ──
class Session:
    """A run, its progress and its results. `chosen` has an attribute for each option, `algorithm` and `task`.

    Raises a ValueError that says why such a run is impossible.
    """

    def __init__(self, chosen, task):
        file, standard = ALGORITHMS[chosen.algorithm], TASKS[task]
        self.updates, self.seed, self.every, self.K = chosen.updates, chosen.seed, chosen.eval_every, chosen.K
        self.kept_out = standard.kept_out if self.every else standard.kept_out[:0]
        self.trained_on = np.setdiff1d(standard.prompts, self.kept_out)
        optimizer = chosen.optimizer or standard.optimizer
        start = POLICIES[chosen.policy]() if task == "add" else None
        rate = chosen.learning_rate or (RATES[chosen.policy] if task == "add" else standard.rates)[optimizer]
        asked = dict(beta=chosen.beta, inner_epochs=chosen.passes, lam=chosen.lam)
        hooks = {}
        if chosen.scale_rewards:
            hooks["advantage"] = DIVISORS[chosen.scale_rewards]
        if chosen.correction:
            hooks["surrogate"] = mismatch.Loss(CORRECTIONS[chosen.correction]).surrogate
        settings = dict(
            seed=chosen.seed,
            K=chosen.K,
            hyper={name: value for name, value in asked.items() if value is not None},
            hooks=hooks,
            optimizer=(SGD if optimizer == "sgd" else AdamW)(rate, clip=standard.clip),
            sync=WeightSync(lag=chosen.lag),
            microbatches=chosen.micro_batches,
            exact_every=self.updates,  # `exact` computes it on request
        )
        self.controller = controller(file, task, self.trained_on, start, settings)
        hp = self.controller.algorithm.hp
        self.configuration = {
            "algorithm": chosen.algorithm,
            "task": task,
            "policy": chosen.policy,
            "beta": hp["beta"],
            "K": chosen.K,
            "passes": hp["inner_epochs"],
            "optimizer": optimizer,
            "learning rate": rate,
            "lag": chosen.lag,
            "λ": hp.get("lam"),
            "rewards divided by": chosen.scale_rewards,
            "correction": chosen.correction,
            "micro-batches": chosen.micro_batches,
            "seed": chosen.seed,
            "updates between evaluations": chosen.eval_every,
            "start": checkpoint.fingerprint(self.controller.start.params),
        }
        self.update, self.shares, self.evaluations = 0, [], []
        self.rows, self.batch = [], None  # rows not yet returned, and the current batch

    def events(self):
        """Yields the remaining StageEvents; at stage seven, `rows`, `shares` and `evaluations` already include the
        update.
        """
        if self.every and not self.evaluations:
            self.evaluate()
            self.rows.append({"step": 0, **metrics.evaluation(self.evaluations[-1])})
        for event in self.controller.iterate(self.updates, first=self.update):
            if event.stage == 3:
                self.batch = event.summary["batch"]
            if event.stage == 7:
                frame = event.summary["frame"]
                self.update += 1
                self.shares.append(float(frame.accuracy))
                self.rows.append(metrics.row(frame, self.batch))
                if self.every and (self.update % self.every == 0 or self.update == self.updates):
                    self.evaluate()
                    self.rows[-1] |= metrics.evaluation(self.evaluations[-1])
            yield event

    def evaluate(self):
        K, policy = EVALUATED // len(self.kept_out), self.controller.trainer.policy
        self.evaluations.append(evaluated(self.controller.task, policy, self.kept_out, K, self.seed, self.update))

    def lines(self):
        """The rows of the log since the last call, as bytes."""
        text = "".join(json.dumps(row) + "\n" for row in self.rows)
        self.rows = []
        return text.encode()

    def exact(self, policy):
        """The exact mean pass rate over the training prompts, without sampling; None if the task cannot compute it."""
        quantities = self.controller.task.exact(policy)
        return float(quantities["pass_rate"][self.trained_on].mean()) if quantities else None

    def packed(self, log):
        """The run as bytes; `log` is what the checkpoint must know about its log."""
        evaluations = [[each.update, each.right, each.completions] for each in self.evaluations]
        state = dict(update=self.update, shares=self.shares, evaluations=evaluations, log=log)
        configuration = self.configuration | {"log": "none" if log is None else "kept"}
        return checkpoint.packed(state | dict(controller=checkpoint.state(self.controller)), configuration)

    def load(self, data, logged):
        """Resumes from the bytes of `packed` and returns its `log`; raises checkpoint.Refused if it cannot."""
        state = checkpoint.unpacked(data, self.configuration | {"log": "kept" if logged else "none"})
        if state["update"] > self.updates:
            raise checkpoint.Refused(
                f"it was written after update {state['update']}, but --updates {self.updates} ends before"
            )
        self.update, self.shares = state["update"], state["shares"]
        self.evaluations = [Evaluation(*each) for each in state["evaluations"]]
        checkpoint.restore(self.controller, state["controller"])
        return state["log"]

    # ── what both commands print about it ──
    def settings(self):
        """The configuration in one line, without options that the algorithm's file does not have or whose default is
        kept.
        """
        set_options = {
            name: value for name, value in self.configuration.items() if name != "start" and value is not None
        }
        return ", ".join(f"{name} {value}" for name, value in set_options.items())

    def first_record(self, event):
        """One completion of the run's first batch, one line per token, once it has advantages; otherwise nothing."""
        if event.iteration == 0 and event.stage == 5 and "advantage" in event.summary:
            yield from record.lines(self.batch, record.telling(self.batch), self.controller.task)

    def sampled(self):
        """The pass rate at the beginning and at the end, on the completions that it was trained on."""
        last = min(10, len(self.shares))
        return (
            f"{self.configuration['algorithm']} on {self.configuration['task']}: {self.shares[0]:.3f} of the first "
            f"batch correct, {np.mean(self.shares[-last:]):.3f} of the last {last} batches{self.others()}"
        )

    def others(self):
        """The result on the prompts kept out of training, to continue the line about those trained on."""
        if not self.evaluations:
            return ""
        first, last = self.evaluations[0].mean, self.evaluations[-1].mean
        return f"; of the prompts kept out of training {first:.3f} correct before and {last:.3f} after"

    def kept_out_lines(self, most):
        """At most `most` of the evaluations, always with the first and the last."""
        if not self.evaluations:
            return
        examples = self.controller.task.examples
        named = ", ".join(str(examples[i].get("prompt", f"number {i}")) for i in self.kept_out[:3].tolist())
        more = f", and {len(self.kept_out) - 3} more" if len(self.kept_out) > 3 else ""
        yield (
            f"pass rate on the prompts kept out of training ({named}{more}), {self.evaluations[0].completions} "
            f"completions: {INTERVAL}"
        )
        places = np.unique(np.linspace(0, len(self.evaluations) - 1, most).round().astype(np.int64))
        for each in (self.evaluations[i] for i in places):
            yield f"  after update {each.update:<6}  {each}"


def controller(file, task, prompts, policy, settings):
    """The Controller of a standard run on these prompts; `policy` is the model that learns to add."""
    if task == "modsum":
        return modsum_run(file, task=modsum.Task(prompts), **settings)
    if task == "lookup":
        return add_run(file, task=tasks.Lookup(prompts=prompts), policy=tasks.checkpoint("lookup"), **settings)
    return add_run(file, task=tasks.Add(prompts), policy=policy, **settings)
