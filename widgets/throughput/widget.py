"""Where the seconds of a training step go, by what overlaps, and what a faster role is worth."""

import math
from dataclasses import dataclass, replace

from sim.cluster import measured, memory, step, throughput
from sim.cluster.hardware import ACCELERATORS, ridge
from sim.cluster.memory import Engine, Misfit, Training
from sim.cluster.models import MODELS
from widgets.frame import impossible_job, machine_knobs, recovery
from widgets.frame.exercises import Guess
from widgets.frame.knobs import choice, ladder, slider, toggle
from widgets.frame.marks import bars, dots, label, line, panel, region, threshold
from widgets.frame.readouts import Break, Gauge, Readout
from widgets.frame.small_figures import Opening

TITLE = "A step as a sum of its roles, or as the longest of them"

ROLES = {"rollout": "rollout", "verify": "verify", "log-probs": "log_probs", "train": "train", "sync": "sync"}
LANES = {
    "rollout": "rollout",
    "verify": "verify",
    "logp": "log_probs",
    "train": "train",
    "sync": "sync",
    "other": "other",
}
UPRIGHT = dict(tickangle=0)
KEPT = measured.VERL["7B, 64 GPUs"]
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
    overlap: str = choice("What overlaps", "sync", list(step.OVERLAPS))
    reuse: bool = toggle("Reuse the rollout's log-probs", False)
    role: str = choice("Make faster", "rollout", list(ROLES))
    k: float = ladder(
        "by a factor of", 2.0, [1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 64.0], symbol="k"
    )
    workers: int = ladder("Verifier workers", WORKERS, [2**n for n in range(17)], symbol="w")
    source: str = choice("Role times", "measured", ["measured", "from shapes"])
    rollout: float = slider("Rollout", KEPT.generate, low=1, high=HOURS, step=0.01, symbol="t_R", unit="s")
    old_log_probs: float = slider(
        "Old log-probs", KEPT.old_log_prob, low=0, high=HOURS, step=0.01, symbol="t_F", unit="s"
    )
    reference: float = slider("Reference log-probs", 0.0, low=0, high=HOURS, step=0.01, unit="s")
    train: float = slider("Train", KEPT.update, low=1, high=HOURS, step=0.01, symbol="t_T", unit="s")
    sync: float = slider("Weight sync", measured.SYNC_7B, low=0, high=HOURS, step=0.01, symbol="t_S", unit="s")
    other: float = slider("Not attributed", unattributed(KEPT, measured.SYNC_7B), low=0, high=1800, step=0.01, unit="s")
    test_seconds: float = ladder("One test, on average", VERIFY_EACH, TESTS, symbol="t_test", unit="s")
    longest_test: float = ladder("Longest test", VERIFY_EACH, [*TESTS, 3600.0], unit="s")
    prompts: int = ladder("Prompts a step", 512, [2**n for n in range(11)], symbol="B")
    samples: int = ladder("Completions of each", 16, [2**n for n in range(7)], symbol="K")
    model: str = choice("Model", KEPT.model, list(MODELS))
    accelerator: str = choice("Accelerator", "h20", list(ACCELERATORS))
    gpus: int = ladder("GPUs", KEPT.gpus, [2**n for n in range(14)])
    share: float = slider("Of them generating, when pools are split", 0.5, low=0.05, high=0.95, step=0.05)
    prompt: int = ladder("Prompt", step.PROMPT, LENGTHS, unit="tokens")
    p50: int = ladder("Median completion", 720, LENGTHS, unit="tokens")
    p90: int = ladder("Ninetieth percentile", 2000, LENGTHS, unit="tokens")
    p99: int = ladder("Ninety-ninth percentile", 4600, LENGTHS, unit="tokens")
    longest: int = ladder("Longest completion", 8192, LENGTHS, unit="tokens")
    informative: float = slider("In groups with a non-zero advantage", 1.0, low=0.05, high=1, step=0.05)
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
    overlap="async",
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
PRESETS = {
    "verl 7B, 64 GPUs": Knobs(),
    "Agent, 60 s tests": AGENT,
    "From shapes, split H100s": Knobs(overlap="async", source="from shapes", accelerator="h100"),
    "8 test workers": replace(AGENT, workers=8, test_seconds=30.0, longest_test=30.0),
    "A slow link": Knobs(overlap="async", reuse=True, k=1.0, sync=250.0),
    "Longer completions": Knobs(p50=4600, p90=8192, p99=16384, longest=32768),
}
GUESS = Guess(
    "Rollout 151 s, train 133 s, side by side on GPUs of their own. The rollout becomes twice as fast. And the step?",
    ("2 times as fast", "1.5 times", "1.13 times"),
    Knobs(overlap="async", reuse=True),
    2,
    lambda k, r: (
        f"It is {step.speedup(r.before, k.overlap, ROLES[k.role], k.k):.2f} times as fast: the trainer takes "
        f"{r.roles.train:.0f} s, and an engine without end would give no more."
    ),
)
SLACK = 1.25  # a step that waits by a quarter for something other than its GPUs is broken


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
    if found := misfits(k):
        yield Result(found)
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
    path, remedy = step.where_is_my_time(roles, k.overlap, points, accelerator, machine_knobs.efficiency(k), k.mfu)
    yield Result([], before, roles, limit, tuple(points), path, remedy)


def tests(k, workers):
    """Seconds until all completions are tested."""
    return step.verify_seconds(k.prompts * k.samples, workers, k.test_seconds, max(k.longest_test, k.test_seconds))


def pools(k):
    """(GPUs that generate, GPUs that train): times that were measured were taken on all of them."""
    if k.source == "measured" or k.overlap in ("sync", "carry-over"):
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
        return [Misfit("two pools on one GPU", 2, 1, "A second GPU.")]
    engine = Engine(generating, engine_size(k), k.prompt + machine_knobs.law(k).longest)
    if k.source == "measured":
        return memory.fits(model, accelerator, engine, mfu=utilization(k), efficiency=machine_knobs.efficiency(k))
    # assumed: while all GPUs generate and train in turn, the trainer's state is offloaded during the rollout
    return memory.fits(model, accelerator, engine, Training(training), efficiency=machine_knobs.efficiency(k))


def figure(k, r):
    if r.misfits:
        titles = {"One step": "Step", "What a faster role is worth": "Step", "Roles under the roof": "Roof"}
        titles |= {"How much of 1 % off a role reaches the step": "Roof", "Where the wall-clock goes": "What to fix"}
        return [
            impossible_job.nothing(title, "no seconds to show", tab, front=title == "One step")
            for title, tab in titles.items()
        ]
    return [lanes(k, r), gains(k, r), roofline(k, r), elasticities(k, r), tree(k, r)]


BELIEVED = {  # what a picture of measured times takes for granted
    "sync": "",
    "carry-over": "; the tail was not timed, so nothing is carried over",
    "one-off": "; each pool as fast as all GPUs: an upper bound",
    "async": "; each pool as fast as all GPUs: an upper bound",
}


def lanes(k, r):
    names = list(LANES)
    tau, path = step.step_time(r.roles, k.overlap), step.exposed(r.roles, k.overlap)
    at = {"other": (0.0, r.roles.other)} | step.timeline(r.roles, k.overlap)
    spans, on = [at[role] for role in LANES.values()], [role in path for role in LANES.values()]
    top = above(max(1.1 * tau, 1.1 * step.step_time(r.before, "sync"), 1.1 * SLACK * gpu_pools(r.before)))
    shown = lambda keep: dict(
        y=[seconds if kept is keep else 0.0 for kept, (_, seconds) in zip(on, spans)],
        text=[
            f"{seconds:.0f}" if kept is keep and seconds > 0.06 * top else "" for kept, (_, seconds) in zip(on, spans)
        ],
    )
    marks = [
        bars(names, [start for start, _ in spans], "waits", role="free"),
        bars(names, name="on the critical path", series=1, **shown(True)),
        bars(names, name="hidden behind it", series=2, **shown(False)),
        bars(names, [max(tau - start - seconds, 0.0) for start, seconds in spans], "waits", role="free"),
        label(names[0], tau, f"step {tau:.0f} s"),
    ]
    if k.overlap == "async":
        marks.append(threshold(SLACK * gpu_pools(r.roles), "breaks above", top))
    return panel(
        "One step, role by role",
        "seconds; navy: on the critical path, amber: hidden, empty: waiting"
        + (BELIEVED[k.overlap] if k.source == "measured" else ""),
        *marks,
        y_range=[0, top],
        tab="Step",
        front=True,
        stacked=True,
        ticks=UPRIGHT,
    )


def gains(k, r):
    ks = [64 ** (n / 47) for n in range(48)]
    role = ROLES[k.role]
    ends = {overlap: step.speedup(r.before, overlap, role, r.limit) for overlap in step.OVERLAPS}
    top = next(
        t for t in (1.5, 2, 3, 5, 10, 20, 50, 100, 1e3, 1e9) if t >= 1 + 1.1 * (min(max(ends.values()), 1e8) - 1)
    )
    marks, floor = [], 0.0
    for overlap in sorted(step.OVERLAPS, key=ends.get):
        here = overlap == k.overlap
        curve = [step.speedup(r.before, overlap, role, min(x, r.limit)) for x in ks]
        marks.insert(0 if here else len(marks), line(ks, curve, overlap, 1, "" if here else "reference"))
        # labels of close curves stand one above the other
        floor = max(curve[-1], floor + 0.08 * (top - 1) if floor else 0.0)
        marks.append(label(ks[-1], floor, f"{overlap} → {ends[overlap]:.2f}×", 1 if here else 8, "right"))
    now = step.speedup(r.before, k.overlap, role, min(k.k, r.limit))
    marks.append(dots([k.k], [now], "now", role="here"))
    return panel(
        f"What a faster {k.role} is worth",
        "old step over new step; each curve ends at its ceiling"
        + (f"; at k = {r.limit:.1f} the chips have no more" if r.limit < math.inf else ""),
        *marks,
        x="k, times as fast",
        log="x",
        x_range=[1, 64],
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
        f"Roles under the roof of one {accelerator.name}",
        "TFLOP/s dense bf16; compute-bound from the ridge that is reached"
        + ("; the update at the lengths set, which verl does not publish" if k.source == "measured" else ""),
        *marks,
        x="FLOP per byte read",
        log="xy",
        x_range=[0.5, 1e5],
        y_range=[0.5, 5000],
        tab="Roof",
    )


def elasticities(k, r):
    of = lambda overlap: [step.elasticity(r.roles, overlap).get(role, (0.0,))[0] for role in LANES.values()]
    return panel(
        "How much of 1 % off a role reaches the step",
        "per cent; navy: as it overlaps now, amber: if everything were added up",
        bars(list(LANES), of(k.overlap), "now", 1),
        bars(list(LANES), of("sync"), "summed", 2),
        y_range=[0, 1.05],
        tab="Roof",
        ticks=UPRIGHT,
    )


QUESTIONS = {  # leaf of the tree -> the question that leads to it, in the order asked
    ("other",): "over 10 % not attributed",
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
    share = step.exposed(r.roles, k.overlap).get(r.path[0], r.roles.tail) / step.step_time(r.roles, k.overlap)
    return panel(
        "Where the wall-clock goes",
        f"what takes most of the critical path, here {100 * share:.0f} %, and what to do about it",
        *marks,
        x_range=[0, 1],
        y_range=[0.8, len(QUESTIONS) + 1],
        tab="What to fix",
        bare=True,
    )


READOUTS = {
    "Step": step.step_time,
    "Step, times as fast as with k = 1": step.speedup,
    "Verify or sync, the longer": step.seconds,
    "Fix first": step.where_is_my_time,
    "Useful completions": step.useful_rate,
}


def readouts(k, r):
    if r.misfits:
        return impossible_job.dashes(READOUTS, "Step")
    tau = step.step_time(r.roles, k.overlap)
    beside = max(step.seconds(r.roles, role, k.overlap) for role in ("verify", "sync"))
    whole = k.informative == k.ess == 1
    shown = [
        (tau, "s", ""),
        (step.speedup(r.before, k.overlap, ROLES[k.role], min(k.k, r.limit)), "×", ""),
        (beside, "s", "violated" if breaks(k, r) else ""),
        (r.remedy, "", ""),
        (step.useful_rate(k.prompts * k.samples, tau, k.informative, k.ess), "a second", "assumed" if whole else ""),
    ]
    return [
        Readout(name, value, unit, source, state)
        for (name, source), (value, unit, state) in zip(READOUTS.items(), shown)
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
        placement="colocated" if k.overlap in ("sync", "carry-over") else "split",
        prompts=k.prompts,
        samples=k.samples,
        prompt=k.prompt,
        completion=machine_knobs.law(k).longest,
        overlap=k.overlap,
        reuse_log_probs=k.reuse,
    )


SURE = {  # what surely fits, in the order in which it is left out of a way back
    **dict(mfu=throughput.MFU, bandwidth=0.75, flops=0.6, overhead=1.5, share=0.5),
    **dict(train=KEPT.update, samples=16, prompts=512, p50=720, p90=2000, p99=4600, longest=8192, prompt=512),
    **dict(accelerator="h100", gpus=64, model=KEPT.model),
}


def gpu_pools(roles):
    """Seconds of the slower of the two GPU jobs."""
    return max(step.seconds(roles, "rollout", "async"), roles.log_probs + roles.train)


def breaks(k, r):
    if r.misfits:
        return True
    return k.overlap == "async" and max(r.roles.verify, r.roles.sync) > SLACK * gpu_pools(r.roles)


def watched(k, r):
    if r.misfits:
        return impossible_job.needed(r.misfits)
    return Gauge(
        "Verify or sync, against the GPU pools",
        max(r.roles.verify, r.roles.sync),
        SLACK * gpu_pools(r.roles),
        "s",
        low=0.1,
        high=1e4,
        log=True,
        expression=f"async and max(verify, sync) > {SLACK} * max(rollout, log_probs + train)",
    )


def room_made(k, contradict):
    """A way back from what does not fit; None where nothing here is one."""
    if impossible_job.out_of_order(k):
        return impossible_job.in_order(k)
    if contradict:
        turn = ("longest", "samples", "prompts", "gpus", "accelerator", "model")
    else:
        turn = ("gpus", "share", "longest", "prompt", "samples", "prompts", "accelerator", "model")
        turn += ("bandwidth", "flops")
    fits = lambda there: not misfits(there)
    return recovery.one_knob(k, turn, fits) or recovery.fewest(k, SURE, fits)


def broken(k, r):
    if not breaks(k, r):
        return None
    if r.misfits:
        first = r.misfits[0]
        contradict = first.what.startswith("the inputs contradict")
        cause = "the inputs contradict" if contradict else "the job does not fit"
        return Break(f"This job does not fit: {first.what}.", room_made(k, contradict), cause)
    pools = gpu_pools(r.roles)
    if r.roles.sync >= r.roles.verify:
        return Break(
            f"Sending the weights takes {r.roles.sync:.0f} s, longer than either GPU pool works ({pools:.0f} s at "
            "most): "
            "both pools wait for the network.",
            # from shapes the seconds follow from the model; a knob that is k times as fast may be k times as long
            dict(sync=float(math.floor(pools * (k.k if k.role == "sync" else 1))))
            if k.source == "measured"
            else dict(overlap="sync"),
            "sending outlasts both GPU pools",
        )
    enough = next((w for w in Knobs.__dataclass_fields__["workers"].metadata["rungs"] if tests(k, w) <= pools), None)
    crew = "one worker" if k.workers == 1 else f"{k.workers} workers"
    return Break(
        f"{k.prompts * k.samples:,} tests of {k.test_seconds:g} s on {crew} take {r.roles.verify:.0f} s, longer than "
        "either GPU "
        f"pool works ({pools:.0f} s at most): both pools wait.",
        dict(workers=enough) if enough else dict(overlap="sync"),
        "verification outlasts both GPU pools",
    )


def above(seconds):
    """The next round number: 1, 2, 2.5, 5 times a power of ten, so that the axis stays while knobs move."""
    unit = 10 ** math.floor(math.log10(seconds))
    return next(unit * m for m in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if unit * m >= seconds)


def worse(k, r):
    if max(r.roles.verify, r.roles.sync) <= gpu_pools(r.roles):
        return None
    longer = "the verifier" if r.roles.verify > r.roles.sync else "the network"
    return (
        f"A step takes {step.step_time(r.roles, k.overlap):,.0f} s, and {longer} works longer in it than "
        "either GPU pool."
    )


def holds(k, r):
    tau = step.step_time(r.roles, k.overlap)
    return f"A step takes {tau:,.0f} s, and neither the verifier nor the network works longer than the GPU pools."


def two_jobs(plain, other):
    """What a faster engine does to the step of each, and what each of them waits for."""
    speeds, marks = [1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0], []
    for r, name, series, role in ((plain, "one setting", 8, "reference"), (other, "the other", 1, "")):
        steps = [step.step_time(step.whatif(r.before, "rollout", x), "async") for x in speeds]
        marks += [line(speeds, steps, name, series, role), label(8, steps[-1], name, series, "right")]
    busy = gpu_pools(other.roles)
    rows = {"the other": other.roles.verify, "one setting": plain.roles.verify}
    return [
        panel(
            "A step as its engine gets faster",
            "seconds; 64 completions, 8 GPUs, log scales",
            *marks,
            x="engine, times as fast",
            log="xy",
            x_range=[1, 8],
            y_range=[10, 300],
            ticks=dict(tickvals=[1, 2, 4, 8], ticktext=["1", "2", "4", "8"]),
        ),
        panel(
            "What a step waits for",
            "seconds; navy: something other than the GPUs",
            bars(list(rows), list(rows.values()), "beside them", 1),
            bars([f"GPUs: {busy:.0f}"], [busy], "GPUs", 8),
            *[label(name, seconds, f"{seconds:.0f}", anchor="center") for name, seconds in rows.items()],
            threshold(SLACK * busy, "too long", 200),
            y_range=[0, 200],
            stacked=True,
            ticks=UPRIGHT,
        ),
    ]


SHORT = replace(AGENT, test_seconds=20.0, longest_test=30.0)
SAME = "Same job, same GPUs, one setting differs. Find which."
OPENING = Opening(SHORT, replace(SHORT, workers=8), two_jobs, step.step_time, SAME)
