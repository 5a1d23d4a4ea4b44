"""Where the seconds of a training step go, by what overlaps, and what a faster role is worth."""

import math
from dataclasses import dataclass, replace

from rlpt.planning import measured
from sim.cluster import memory, step, throughput
from sim.cluster.hardware import ACCELERATORS, ridge
from sim.cluster.memory import Engine, Misfit, Training
from sim.cluster.models import MODELS
from widgets.frame.contract import impossible_job, machine_knobs, recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing import lanes, scene, steps
from widgets.frame.drawing.marks import bars, dots, label, line, panel, region
from widgets.frame.drawing.small_figures import Played

TITLE = "How long a step takes, as a sum of roles or as the longest lane"

ROLES = {"rollout": "rollout", "verify": "verify", "log-probs": "log_probs", "train": "train", "sync": "sync"}
WAYS = steps.WAYS
LANES = {
    "rollout": "rollout",
    "verify": "verify",
    "logp": "log_probs",
    "train": "train",
    "sync": "sync",
    "other": "other",
}
UPRIGHT = dict(tickangle=0)
VERL = measured.VERL["7B, 64 GPUs"]
VERIFY_EACH, WORKERS = 0.02, 64  # assumed for verl's rows, which do not time it: 20 ms a math check


def unattributed(row, sync):
    """What is left of a published step when its timers, and our guess for verification and weight sync, are taken
    off.
    """
    verify = step.verify_seconds(measured.COMPLETIONS, WORKERS, VERIFY_EACH, VERIFY_EACH)
    return round(row.step - row.named() - verify - sync, 2)


HOURS = 7200
LENGTHS = [128, 256, 512, 720, 1024, 1200, 2000, 3000, 4600, 6000, 8192, 12000, 16384, 24000, 32768, 60000, 131072]
TESTS = [0.001, 0.01, 0.02, 0.1, 1.0, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0, 1800.0]


@dataclass(frozen=True)
class Own:
    overlap: str = choice("What overlaps", "synchronous", list(WAYS))
    reuse: bool = toggle("Reuse the rollout's log-probs", False)
    role: str = choice("Role made faster", "rollout", list(ROLES))
    k: float = ladder(
        "Speed-up of that role", 2.0, [1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 64.0], symbol="k"
    )
    workers: int = ladder("Workers that run tests", WORKERS, [2**n for n in range(17)], symbol="w")
    source: str = choice("Source of role times", "measured", ["measured", "from shapes"])
    rollout: float = slider("Rollout time", VERL.generate, low=1, high=HOURS, step=0.01, symbol="t_R", unit="s")
    old_log_probs: float = slider(
        "Time for old log-probs", VERL.old_log_prob, low=0, high=HOURS, step=0.01, symbol="t_F", unit="s"
    )
    reference: float = slider("Time for reference log-probs", 0.0, low=0, high=HOURS, step=0.01, unit="s")
    train: float = slider("Training time", VERL.update, low=1, high=HOURS, step=0.01, symbol="t_T", unit="s")
    sync: float = slider("Weight sync time", measured.SYNC_7B, low=0, high=HOURS, step=0.01, symbol="t_S", unit="s")
    other: float = slider(
        "Unattributed time", unattributed(VERL, measured.SYNC_7B), low=0, high=1800, step=0.01, unit="s"
    )
    test_seconds: float = ladder("Mean time per test", VERIFY_EACH, TESTS, symbol="t_test", unit="s")
    longest_test: float = ladder("Time of the longest test", VERIFY_EACH, [*TESTS, 3600.0], unit="s")
    prompts: int = ladder("Prompts per step", 512, [2**n for n in range(11)], symbol="B")
    samples: int = ladder("Completions per prompt", 16, [2**n for n in range(7)], symbol="K")
    model: str = choice("Model", VERL.model, list(MODELS))
    accelerator: str = choice("Accelerator", "h20", list(ACCELERATORS))
    gpus: int = ladder("GPUs", VERL.gpus, [2**n for n in range(14)])
    share: float = slider("Fraction of GPUs that generate", 0.5, low=0.05, high=0.95, step=0.05)
    prompt: int = ladder("Prompt length", step.PROMPT, LENGTHS, unit="tokens")
    p50: int = ladder("Median completion", 720, LENGTHS, unit="tokens")
    p90: int = ladder("Ninetieth percentile", 2000, LENGTHS, unit="tokens")
    p99: int = ladder("Ninety-ninth percentile", 4600, LENGTHS, unit="tokens")
    longest: int = ladder("Longest completion", 8192, LENGTHS, unit="tokens")
    informative: float = slider("Fraction with a non-zero advantage", 1.0, low=0.05, high=1, step=0.05)
    ess: float = slider("Effective share of stale samples", 1.0, low=0.05, high=1, step=0.05, symbol="ESS/n")


@dataclass(frozen=True)
class Knobs(machine_knobs.Brought, machine_knobs.AssumedOfTraining, Own):
    pass


def published(row, sync):
    r = measured.VERL[row]
    return Knobs(
        rollout=r.generate,
        old_log_probs=r.old_log_prob,
        reference=r.reference,
        train=r.update,
        sync=sync,
        other=unattributed(r, sync),
        model=r.model,
        gpus=r.gpus,
    )


AGENT = Knobs(
    overlap="asynchronous",
    k=1.0,
    workers=64,
    rollout=60.0,
    old_log_probs=8.0,
    train=30.0,
    sync=4.0,
    other=0.0,
    test_seconds=60.0,
    longest_test=60.0,
    prompts=8,
    samples=8,
    accelerator="h100",
    gpus=8,
)
LEAD = ("overlap", "test_seconds")
KNOB_GROUPS = {
    "What if": ("role", "k", "reuse"),
    "Seconds of a step": ("source", "rollout", "old_log_probs", "reference", "train", "sync", "other"),
    "Tests": ("workers", "longest_test"),
    "Batch and lengths": ("prompts", "samples", "prompt", "p50", "p90", "p99", "longest", "informative", "ess"),
    "Machine": ("model", "accelerator", "gpus", "share"),
    "Assumed": ("bandwidth", "flops", "overhead", "mfu"),
}
PRESETS = {
    "verl 7B, 64 GPUs": Knobs(),
    "Agent, 60 s tests": AGENT,
    "From shapes, split H100s": Knobs(overlap="asynchronous", source="from shapes", accelerator="h100"),
    "8 test workers": replace(AGENT, workers=8, test_seconds=30.0, longest_test=30.0),
    "A slow link": Knobs(overlap="asynchronous", reuse=True, k=1.0, sync=250.0),
    "Longer completions": Knobs(p50=4600, p90=8192, p99=16384, longest=32768),
}
GUESS = Guess(
    "Rollout takes 151 s, beside 204 s of log-probs and training. What does an engine twice as fast gain?",
    ("a factor of 2", "a factor of 1.26", "nothing"),
    Knobs(overlap="asynchronous"),
    2,
    lambda k, r: (
        f"A step takes {step.step_time(r.roles, WAYS[k.overlap]):.0f} s with either engine, because it waits for "
        "log-probs and training."
    ),
)
SLACK = 1.25  # a step that is longer by more than a quarter because its GPUs wait for tests or weights is broken
SEEN = 1.02  # and one that is longer by so much is worse


@dataclass(frozen=True)
class Result:
    misfits: list  # what of the setting is impossible; then there is nothing else
    before: step.Roles | None = None  # with k = 1
    roles: step.Roles | None = None
    limit: float = math.inf  # of k: nothing trains at more than the chip's peak
    points: tuple = ()
    path: tuple = ()
    remedy: str = ""


def run(k):
    if impossible := misfits(k):
        yield Result(impossible)
        return
    model, accelerator, law = machine_knobs.model(k), machine_knobs.accelerator(k), machine_knobs.law(k)
    generating, training = pools(k)
    tensor_parallel = engine_size(k)
    completions, verify = k.prompts * k.samples, tests(k, k.workers)
    if k.source == "measured":
        log_probs = k.reference + (0.0 if k.reuse else k.old_log_probs)
        before = step.Roles(k.rollout, verify, log_probs, k.train, k.sync, k.other)
    else:
        shape = (model, accelerator, generating, training, tensor_parallel, completions, law, verify)
        reached = dict(efficiency=machine_knobs.efficiency(k), mfu=k.mfu, prompt=k.prompt, group=k.samples)
        before = step.roles_from_config(*shape, reference=False, reuse=k.reuse, **reached)
    limit = 1 / utilization(k) if k.role == "train" else math.inf
    roles = step.whatif(before, ROLES[k.role], min(k.k, limit))
    context, tokens = law.context(k.prompt), throughput.MICRO_BATCH
    points = throughput.role_points(
        model, accelerator, live(k), context, tokens, tensor_parallel, machine_knobs.efficiency(k), k.mfu
    )
    attained = utilization(k) * accelerator.flops()
    points = [p._replace(flops_per_second=attained) if p.role == "train" else p for p in points]
    path, remedy = step.where_is_my_time(
        roles, WAYS[k.overlap], points, accelerator, machine_knobs.efficiency(k), k.mfu
    )
    yield Result([], before, roles, limit, tuple(points), path, remedy)


def tests(k, workers):
    """Seconds until all completions are tested."""
    return step.verify_seconds(k.prompts * k.samples, workers, k.test_seconds, max(k.longest_test, k.test_seconds))


def pools(k):
    """(GPUs that generate, GPUs that train): times that were measured were taken on all of them."""
    if k.source == "measured" or k.overlap in ("synchronous", "partial rollout"):
        return k.gpus, k.gpus
    generating = min(max(round(k.share * k.gpus), 1), k.gpus - 1)
    return generating, k.gpus - generating


def live(k):
    """Sequences that one engine decodes together."""
    shape = (machine_knobs.model(k), machine_knobs.accelerator(k), pools(k)[0], engine_size(k))
    return step.live_sequences(*shape, k.prompts * k.samples, machine_knobs.law(k), k.prompt)


def engine_size(k):
    """GPUs that share one replica."""
    longest = k.prompt + machine_knobs.law(k).longest
    return memory.engine_tp(machine_knobs.model(k), machine_knobs.accelerator(k), Engine(pools(k)[0], longest=longest))


def utilization(k):
    """MFU of the update: of the measured one, at the lengths that are set, or what is assumed."""
    if k.source != "measured":
        return k.mfu
    tokens = k.prompts * k.samples * (k.prompt + machine_knobs.law(k).mean)
    return throughput.attained_mfu(machine_knobs.model(k), machine_knobs.accelerator(k), k.gpus, tokens, k.train)


def misfits(k):
    """What of the setting is impossible. Times that were measured are believed, but not beyond the chip's peak."""
    model, accelerator = machine_knobs.model(k), machine_knobs.accelerator(k)
    if out_of_order := impossible_job.out_of_order(k):
        return out_of_order
    generating, training = pools(k)
    if generating < 1:
        return [Misfit("two pools on one GPU", 2, 1, "Use a second GPU.")]
    engine = Engine(generating, engine_size(k), k.prompt + machine_knobs.law(k).longest)
    if k.source == "measured":
        return memory.fits(model, accelerator, engine, mfu=utilization(k), efficiency=machine_knobs.efficiency(k))
    # assumed: while all GPUs generate and train in turn, the trainer's state is offloaded during the rollout
    return memory.fits(model, accelerator, engine, Training(training), efficiency=machine_knobs.efficiency(k))


def fits(k):
    return not misfits(k)


def figure(k, r):
    if r.misfits:
        tabs = ["Step", "Step", "Roof", "Roof", "What to fix"]
        return impossible_job.unfit(k, r.misfits, tabs, "gpus", misfits)
    return [one_step(k, r), gains(k, r), roofline(k, r), elasticities(k, r), tree(k, r)]


BELIEVED = {  # what is assumed of measured times, for the note
    "synchronous": "",
    "partial rollout": "; no tail was timed",
    "one-step off-policy": "; each pool as fast as all GPUs",
    "asynchronous": "; each pool as fast as all GPUs",
}


def one_step(k, r):
    """The lanes of the roles over seconds; one batch is followed through them."""
    overlap = WAYS[k.overlap]
    split = overlap not in ("sync", "carry-over")
    until = lanes.round_up(1.55 * step.step_time(r.before, "sync"))
    waits_for = longer(k, r) if breaks(k, r) else ""
    options = dict(was=r.before, split=split, steps=7, ticks=lanes.quarters(until), broken=waits_for)
    return scene.scene(
        "One step, role by role",
        "underlined: the step waits; hatched: idle" + (BELIEVED[k.overlap] if k.source == "measured" else ""),
        steps.board("s", r.roles, overlap, until, **options),
        tab="Step",
        front=True,
        data=[bars(list(LANES), [getattr(r.roles, role) for role in LANES.values()], "seconds")],
    )


WORTH = {  # titles
    "rollout": "Gain from a faster rollout",
    "verify": "What faster tests gain",
    "log-probs": "What faster log-probs gain",
    "train": "What faster training gains",
    "sync": "What a faster weight sync gains",
}


def gains(k, r):
    ks = [64 ** (n / 47) for n in range(48)]
    role = ROLES[k.role]
    ends = {overlap: step.speedup(r.before, overlap, role, r.limit) for overlap in step.OVERLAPS}
    top = next(
        t for t in (1.5, 2, 3, 5, 10, 20, 50, 100, 1e3, 1e9) if t >= 1 + 1.1 * (min(max(ends.values()), 1e8) - 1)
    )
    marks, floor = [], 0.0
    for way in sorted(WAYS, key=lambda name: ends[WAYS[name]]):
        current, overlap = way == k.overlap, WAYS[way]
        curve = [step.speedup(r.before, overlap, role, min(x, r.limit)) for x in ks]
        marks.insert(0 if current else len(marks), line(ks, curve, way, 1, "" if current else "reference"))
        # labels stand behind the end of their curves, those of close curves one above the other
        floor = max(curve[-1] - 0.04 * (top - 1), floor + 0.08 * (top - 1) if floor else 1.0)
        marks.append(label(72, floor, f"{way} → {ends[overlap]:,.2f}×", 1 if current else 8))
    gain = step.speedup(r.before, WAYS[k.overlap], role, min(k.k, r.limit))
    marks.append(dots([k.k], [gain], "now", role="here"))
    return panel(
        WORTH[k.role],
        "old step over new" + (f"; above k = {r.limit:,.1f} beyond the chips" if r.limit < 1e4 else " step"),
        *marks,
        x="speed-up k of the role",
        log="x",
        x_range=[1, 1500],
        y_range=[1, top],
        tab="Step",
        ticks=dict(tickvals=[1, 2, 4, 8, 16, 32, 64]),
    )


def roofline(k, r):
    accelerator = machine_knobs.accelerator(k)
    xs, reached = [0.5, ridge(accelerator), 1e5], throughput.effective_ridge(accelerator, machine_knobs.efficiency(k))
    at = {p.role: p for p in r.points}
    name = {"decode": "decode", "prefill": "prefill", "log_probs": "log-probs", "train": "train"}
    marks = [
        line(xs, [throughput.roof(accelerator, x) / 1e12 for x in xs], "roof"),
        region(reached, 1e5, "compute-bound"),
    ]
    for series, p in enumerate(r.points, 2):
        marks.append(dots([p.flop_per_byte], [p.flops_per_second / 1e12], name[p.role], series))
    marks += [
        label(at["decode"].flop_per_byte, 0.75 * at["decode"].flops_per_second / 1e12, "decode", 2, below=True),
        label(
            at["train"].flop_per_byte,
            0.34 * k.mfu * accelerator.flops() / 1e12,
            "prefill, log-probs, train",
            0,
            "right",
            below=True,
        ),
    ]
    return panel(
        f"Roles under the roof of {accelerator.name if k.chip else f'one {accelerator.name}'}",
        "TFLOP/s dense bf16; shaded from the ridge reached"
        + ("; the update at the lengths set" if k.source == "measured" else ""),
        *marks,
        x="FLOP per byte read",
        log="xy",
        x_range=[0.5, 1e5],
        y_range=[0.5, 5000],
        tab="Roof",
    )


def elasticities(k, r):
    def shares(overlap):
        return [step.elasticity(r.roles, overlap).get(role, (0.0,))[0] for role in LANES.values()]

    return panel(
        "Seconds off the step per second off a role",
        "in %; [followed] as it overlaps now, [against] if roles are added up",
        bars(list(LANES), shares(WAYS[k.overlap]), "now", 1),
        bars(list(LANES), shares("sync"), "summed", 2),
        y_range=[0, 1.05],
        tab="Roof",
        ticks=UPRIGHT,
    )


QUESTIONS = {  # leaf of the tree -> the question that leads to it, in the order asked
    ("other",): "over 10 % unattributed",
    ("tail",): "the tail",
    ("sync",): "weight sync",
    ("verify",): "verify",
    ("log_probs",): "log-probs",
    ("idle pool",): "a GPU pool waits",
    ("rollout", "left of the ridge"): "rollout, left of ridge",
    ("rollout", "right of the ridge"): "rollout, right of ridge",
    ("train", "below assumed MFU"): "train, below its MFU",
    ("train", "at assumed MFU"): "train, at its MFU",
}


def tree(k, r):
    lit = ("idle pool",) if r.path[-1] == "idle pool" else r.path
    rows = {branch: len(QUESTIONS) - n for n, branch in enumerate(QUESTIONS)}
    marks = []
    for branch, y in sorted(rows.items(), key=lambda row: row[0] != lit):
        series, role = (1, "") if branch == lit else (0, "reference")
        marks += [
            line([0.43, 0.6], [y + 0.35, y + 0.35], step.LEAVES[branch[-1]], 1, role),
            label(0, y, QUESTIONS[branch], series),
            label(1, y, step.LEAVES[branch[-1]], series, "right"),
        ]
    share = step.exposed(r.roles, WAYS[k.overlap]).get(r.path[0], r.roles.tail) / step.step_time(
        r.roles, WAYS[k.overlap]
    )
    return panel(
        "Where the time of a step goes",
        f"the role with most of the critical path, here {100 * share:.0f} %, and what to do about it",
        *marks,
        x_range=[0, 1],
        y_range=[0.8, len(QUESTIONS) + 1],
        tab="What to fix",
        bare=True,
    )


READOUTS = {
    "Duration of a step": step.step_time,
    "Gain of the faster role": step.speedup,
    "Longer of tests and sync": step.seconds,
    "Role to fix first": step.where_is_my_time,
    "Useful completions per second": step.useful_rate,
}


def readouts(k, r):
    if r.misfits:
        return impossible_job.dashes(READOUTS, "Duration of a step")
    tau = step.step_time(r.roles, WAYS[k.overlap])
    beside = max(step.seconds(r.roles, role, WAYS[k.overlap]) for role in ("verify", "sync"))
    whole = k.informative == k.ess == 1
    rows = [
        (tau, "s", ""),
        (step.speedup(r.before, WAYS[k.overlap], ROLES[k.role], min(k.k, r.limit)), "×", ""),
        (beside, "s", "violated" if breaks(k, r) else ""),
        (r.remedy, "", ""),
        (step.useful_rate(k.prompts * k.samples, tau, k.informative, k.ess), "", "assumed" if whole else ""),
    ]
    return [
        Readout(name, value, unit, source, state)
        for (name, source), (value, unit, state) in zip(READOUTS.items(), rows)
    ]


def export(k, r):
    """The setting as quantities of options.TABLE."""
    if r.misfits:
        return None
    generating, tensor_parallel = pools(k)[0], engine_size(k)
    return dict(
        tensor_parallel=tensor_parallel,
        engines=generating // tensor_parallel,
        memory_fraction=memory.HBM_SHARE,
        concurrency=max(round(live(k)), 1),
        context=k.prompt + machine_knobs.law(k).longest,
        placement="colocated" if k.overlap in ("synchronous", "partial rollout") else "split",
        prompts=k.prompts,
        samples=k.samples,
        prompt=k.prompt,
        completion=machine_knobs.law(k).longest,
        overlap=WAYS[k.overlap],
        reuse_log_probs=k.reuse,
    )


SURE = {  # what surely fits, in the order in which it is left out of a way back
    **dict(mfu=throughput.MFU, bandwidth=0.75, flops=0.6, overhead=1.5, share=0.5),
    **dict(train=VERL.update, samples=16, prompts=512, p50=720, p90=2000, p99=4600, longest=8192, prompt=512),
    **dict(accelerator="h100", gpus=64, model=VERL.model),
}


def without(k, r, *roles):
    """Seconds of the step if these roles took none."""
    return step.step_time(replace(r.roles, **dict.fromkeys(roles, 0.0)), WAYS[k.overlap])


def stretched(k, r):
    """How many times as long the step is as without tests and weights to wait for."""
    return step.step_time(r.roles, WAYS[k.overlap]) / without(k, r, "verify", "sync")


def longer(k, r):
    """Of tests and weights, what the step would be shorter without: by more seconds, or by itself."""
    return min(("sync", "verify"), key=lambda role: (without(k, r, role), -getattr(r.roles, role)))


WAITED_FOR = dict(sync="weights", verify="tests")  # words for what `longer` returns


def breaks(k, r):
    return bool(r.misfits) or stretched(k, r) > SLACK


def watched(k, r):
    if r.misfits:
        return impossible_job.needed(r.misfits)
    return Gauge(
        "Step over GPU work",
        stretched(k, r),
        SLACK,
        "×",
        expression=f"step_time(roles) > {SLACK} * step_time(roles, verify=0, sync=0)",
    )


def room_made(k, contradict):
    """A way back from what does not fit; None where nothing here is one."""
    if impossible_job.out_of_order(k):
        return recovery.different(k, impossible_job.in_order(k))
    if contradict:
        turn = ("longest", "samples", "prompts", "gpus", "accelerator", "model")
    else:
        turn = ("gpus", "share", "longest", "prompt", "samples", "prompts", "accelerator", "model")
        turn += ("bandwidth", "flops")
    return recovery.one_knob(k, turn, fits) or recovery.fewest(k, SURE, fits)


def seen_at(k, r, cause):
    if r.misfits:
        return impossible_job.unfit_at(k, r.misfits)
    return At("One step, role by role", None, None, f"all GPUs wait for {WAITED_FOR[longer(k, r)]}")


def broken(k, r):
    if not breaks(k, r):
        return None
    if r.misfits:
        contradict = r.misfits[0].what.startswith("the inputs contradict")
        cause = "the inputs contradict" if contradict else "the job does not fit"
        return Break(impossible_job.why(r.misfits), made_to_run(k, contradict), cause)
    if longer(k, r) == "sync":
        why = f"Sending the weights takes {rounded(r.roles.sync)} s, and {stretching(k, r)}."
        return Break(Said(why, lengthening(k, r, "sync")), quickened(k, r), "all GPUs wait for weights")
    return Break(tested(k, r), quickened(k, r), "all GPUs wait for tests")


def stretching(k, r):
    tau, alone = step.step_time(r.roles, WAYS[k.overlap]), without(k, r, "verify", "sync")
    cause = "" if without(k, r, longer(k, r)) <= SLACK * alone else " for tests and weights"
    return f"all GPUs wait{cause}, so a step takes {rounded(tau)} s instead of {rounded(alone)} s"


def tested(k, r):
    """The tests that the GPUs wait for: all of them on these workers, or the longest, which no worker shortens."""
    many, seconds = k.prompts * k.samples, rounded(r.roles.verify)
    alone = tests(k, 2**40)
    if alone >= tests(k, k.workers):
        test = "The one test" if many == 1 else f"The longest of {many:,} tests"
        why = f"{test} takes {seconds} s, and {stretching(k, r)}."
        claims = {"more workers do not help": lambda: tests(k, 2 * k.workers) == alone}
    else:
        crew = "one worker" if k.workers == 1 else f"{k.workers:,} workers"
        each = round(k.test_seconds / (faster(k, r) if k.role == "verify" else 1), 3)
        each = f"{each:,.0f}" if each >= 1000 else f"{each:g}"
        work = f"One test of {each} s on {crew} takes" if many == 1 else f"{many:,} tests of {each} s on {crew} take"
        why = f"{work} {seconds} s, and {stretching(k, r)}."
        claims = {"so long do they take": lambda: r.roles.verify * faster(k, r) >= tests(k, k.workers) * 0.999}
    return Said(why, lengthening(k, r, "verify") | claims)


def rounded(seconds):
    return f"{seconds:,.0f}" if seconds >= 9.5 else f"{seconds:.2g}"


def made_to_run(k, contradict):
    """As `room_made`, and after it no step is that much longer for tests or weights."""
    change = room_made(k, contradict)
    if change is None:
        return None
    mended = replace(k, **change)
    result = next(run(mended))
    if result.misfits:
        change = recovery.fewest(k, change | SURE, fits)
        mended = replace(k, **change)
        result = next(run(mended))
    return recovery.different(k, change | quickened(mended, result) if breaks(mended, result) else change)


def faster(k, r):
    """How many times as fast the role is that is made faster."""
    return min(k.k, r.limit)


def lengthening(k, r, role):
    """What is asserted of a role that the GPUs wait for: of the seconds that its lane takes, of no GPU's."""
    tau, alone = step.step_time(r.roles, WAYS[k.overlap]), without(k, r, "verify", "sync")
    return {
        "without either a step takes less than four fifths": lambda: alone < tau / SLACK,
        "without this one it is shorter, or the other lane takes as long": lambda: (
            without(k, r, role) < tau or r.roles.verify == r.roles.sync or k.overlap == "asynchronous"
        ),
        "GPUs work no longer than that": lambda: (
            max(step.seconds(r.roles, "rollout", WAYS[k.overlap]), r.roles.log_probs + r.roles.train) <= alone * 1.001
        ),
    }


def quickened(k, r):
    """More workers, a faster link, both, shorter tests, or another overlap, whichever first is enough; else the seconds
    of the default.
    """
    alone, fast, shorter = without(k, r, "verify", "sync"), [], {}
    if k.source == "measured":  # from shapes the seconds follow from the model
        seconds = (math.floor(share * alone * (k.k if k.role == "sync" else 1)) for share in (1.0, 0.2, 0.1))
        fast = [dict(sync=float(at_most)) for at_most in (*seconds, 0) if at_most < k.sync]
    rungs = Knobs.__dataclass_fields__["workers"].metadata["rungs"]
    crew = [dict(workers=many) for many in rungs if many > k.workers]
    shorter = [dict(test_seconds=t, longest_test=t) for t in TESTS[::-1] if t < k.longest_test]
    either = [*fast, *crew] if longer(k, r) == "sync" else [*crew, *fast]
    both = [fewer | more for fewer in fast[-2:] for more in crew]
    overlaps = [dict(overlap=overlap) for overlap in ("asynchronous", "synchronous")]
    tried = (*either, *both, *shorter, *(fewer | test for fewer in fast[-2:] for test in shorter), *overlaps)
    return recovery.first_of(k, tried, unbroken) or recovery.fewest(k, UNHURRIED, unbroken)


def unbroken(k):
    return not breaks(k, next(run(k)))


HURRY = ("source", "rollout", "old_log_probs", "reference", "other", "sync", "workers", "test_seconds", "longest_test")
UNHURRIED = SURE | {name: getattr(Knobs(), name) for name in (*HURRY, "overlap", "role", "k")}


def worse(k, r):
    if stretched(k, r) <= SEEN:
        return None
    tau, alone = step.step_time(r.roles, WAYS[k.overlap]), without(k, r, "verify", "sync")
    lane = WAITED_FOR[longer(k, r)]
    return Said(
        f"A step takes {rounded(tau)} s. It would take {rounded(alone)} s if its GPUs did not wait for {lane}.",
        taking(k, r)
        | {
            "it is longer by less than a quarter": lambda: alone * SEEN < tau <= alone * SLACK,
            "they wait": lambda: max(r.roles.verify, r.roles.sync) > 0,
        },
    )


def taking(k, r):
    """What is asserted of a step: no shorter than its longest lane, no longer than all roles in turn."""
    tau = step.step_time(r.roles, WAYS[k.overlap])
    rollout, scored, sync = (step.seconds(r.roles, role, WAYS[k.overlap]) for role in ("rollout", "log_probs", "sync"))
    spans = [rollout, r.roles.verify, scored + r.roles.train, sync]
    in_turn = sum(spans) + r.roles.other + getattr(r.roles, "switch", 0.0)
    return {"it takes so long": lambda: max(spans) * 0.999 <= tau <= in_turn * 1.001 + 1e-6}


def holds(k, r):
    tau = step.step_time(r.roles, WAYS[k.overlap])
    return Said(
        f"A step takes {tau:,.0f} s. Waiting for tests and weights takes under 2 % of it.",
        taking(k, r)
        | {"without both it takes as long": lambda: without(k, r, "verify", "sync") >= tau / SEEN * (1 - 1e-9)},
    )


SHORT = replace(AGENT, test_seconds=20.0, longest_test=30.0)
OPENING = Played(SHORT, replace(SHORT, workers=8), "opening")
