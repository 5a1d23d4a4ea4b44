"""Which recipe takes the least compute to a target, where memory is limited and some prompts cannot be checked."""

from dataclasses import dataclass, replace

import numpy as np

from sim.synthesis import forces
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import bars, dots, heat, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening
from widgets.frame.drawing.written import figures

TITLE = "The recipe that needs the least compute, given your verifiers, your critic and your memory"

ROOMS = list(range(14, 50, 2))  # bytes a weight
FORESEEN = np.linspace(0, 0.95, 20)
CHECKABLE = [round(0.05 * n, 2) for n in range(21)]
PRICES = np.linspace(0, 20, 21)
ROWS = 5
WORSE = 2.0  # times the compute of the default setting


@dataclass(frozen=True)
class Knobs:
    checkable: float = slider("Prompts that have a verifier", 0.5, low=0.0, high=1.0, step=0.05)
    foreseen: float = slider("Within-prompt variance a critic foresees", 0.2, low=0.0, high=0.95, step=0.05)
    room: int = ladder("Memory per weight", 48, ROOMS, unit="bytes")
    labels: float = slider("Price of people’s labels", 2.0, low=0.0, high=20.0, step=0.5)
    pairs: float = slider("Wrong labels in pairs (DPO)", 0.28, low=0.0, high=0.45, step=0.01)
    samples: int = ladder("Completions per prompt", 16, [2, 4, 8, 16, 32, 64], symbol="K")
    verifier: float = slider("Wrong labels of a verifier", 0.02, low=0.0, high=0.45, step=0.01)
    reward_model: float = slider("Wrong labels of a reward model", 0.28, low=0.0, high=0.45, step=0.01)
    judge: float = slider("Wrong labels of a judge", 0.30, low=0.0, high=0.45, step=0.01)
    offline: float = slider("Signal left in off-policy pairs", 0.7, low=0.1, high=1.0, step=0.05)
    hacked: float = slider("Signal left without an anchor", 0.4, low=0.1, high=1.0, step=0.05)
    between: float = slider("Between-prompt variance a critic knows", 0.8, low=0.0, high=1.0, step=0.05)
    dropped: float = slider("Price of leaving prompts out", 120.0, low=0.0, high=200.0, step=10.0)


LEAD = ("room", "pairs")
KNOB_GROUPS = {
    "Sources of reward": ("labels", "verifier", "reward_model", "judge"),
    "Prompts and baseline": ("checkable", "samples", "foreseen", "between"),
    "Assumptions": ("offline", "hacked", "dropped"),
}
PRESETS = {
    "Half the prompts checkable": Knobs(),
    "All checkable, little memory": Knobs(checkable=1.0, foreseen=0.0, room=24),
    "None checkable, ample memory": Knobs(checkable=0.0, foreseen=0.8),
    "Sixteen bytes": Knobs(room=16),
    "Poor pairs, 22 bytes": Knobs(room=22, pairs=0.36),
    "Scorers near chance": Knobs(pairs=0.44, reward_model=0.44, judge=0.44),
}
GUESS = Guess(
    "All prompts have a verifier. How does compute change if a critic that foresees nothing replaces the siblings?",
    ("it halves", "it doubles", "it grows tenfold"),
    Knobs(checkable=1.0, foreseen=0.0),
    1,
    lambda k, r: (
        f"It takes {r.critic / r.group:.2f} times the compute: a second model reads and trains, but removes no "
        "more noise."
    ),
)


@dataclass(frozen=True)
class Result:
    found: list  # of those that fit, the least compute first
    all: list  # if memory were no matter
    group: float  # least compute with the group's mean, of what fits in any memory
    critic: float
    pays_from: float

    @property
    def best(self):
        return self.found[0] if self.found else None


def assumed(k):
    names = ("verifier", "reward_model", "judge", "pairs", "offline", "hacked", "between", "labels", "dropped")
    return forces.Assumed(**{name: getattr(k, name) for name in names})


def solutions(k, room):
    return forces.solve(k.checkable, k.foreseen, room, k.samples, assumed(k))


def run(k):
    everything = solutions(k, float("inf"))
    yield Result(
        [s for s in everything if s.memory <= k.room],
        everything,
        least(everything, "group"),
        least(everything, "critic"),
        pays_from(k),
    )


def least(recipes, name):
    """The least compute of those with this baseline."""
    return min((s.compute for s in recipes if baseline(s) == name), default=float("inf"))


def pays_from(k):
    """What a critic must foresee for the best recipe with one to take no more than the best with a group; 2 is never.

    A critic's compute falls with what it foresees, and a group's does not depend on it: the two lines of the panel
    meet once at most.
    """
    if critic_ahead(k, 0.0) or not critic_ahead(k, 1.0):
        return 0.0 if critic_ahead(k, 0.0) else 2.0
    low, high = 0.0, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if critic_ahead(k, middle) else (middle, high)
    return high


def critic_ahead(k, foreseen):
    """Whether a critic takes no more than a group where it foresees this share of the variance."""
    recipes = solutions(replace(k, foreseen=foreseen), float("inf"))
    return least(recipes, "critic") <= least(recipes, "group")


def baseline(solution):
    sources = [s for s in (solution.checked, solution.unchecked) if s and s.signal != "pairs"]
    return sources[0].baseline if sources else None


# What is drawn


def figure(k, r):
    return [ranked(k, r), factors(k, r), by_memory(k, r), by_foresight(k, r), over_both(k), by_price(k)]


def called(solution):
    return forces.name(solution) + (", no anchor" if solution.unanchored else "")


def ranked(k, r):
    """The recipes that take least, and what each needs; those that do not fit are gray."""
    recipes = r.all[:ROWS]
    if r.best and r.best not in recipes:
        recipes = [*recipes[:-1], r.best]
    marks = []
    for row, recipe in zip(range(ROWS, 0, -1), recipes):
        fits, words = recipe.memory <= k.room, f"{figures(recipe.compute)}, {recipe.memory:.0f} B"
        marks += [
            dots([recipe.compute], [row], called(recipe), 1 if fits else 8, "here" if recipe is r.best else ""),
            label(0.32, row + 0.2, f"{called(recipe)}: {words}", 1 if fits else 8),
        ]
    return panel(
        "Compute to the same target",
        "relative; log scale; [s8] does not fit",
        *marks,
        x="cost × variance ÷ signal²",
        log="x",
        x_range=[0.3, 300],
        y_range=[0.6, ROWS + 1],
        tab="Recipes",
        front=True,
        y_ticks=dict(tickvals=[], ticktext=[]),
    )


def times(multiple):
    return f"{multiple:.2g}" if multiple < 99.5 else figures(multiple)


def factors(k, r):
    """What the recipe in force is made of, each factor as a multiple of a verifier's with a group of sixteen."""
    marks = []
    if r.best:
        reference = parts(forces.Source("verifier", "group", False), replace(Knobs(), foreseen=k.foreseen))
        for source, series, dx in ((r.best.checked, 2, -0.15), (r.best.unchecked, 1, 0.15)):
            if source and not (series == 2 and source == r.best.unchecked):
                multiples = [part / of for part, of in zip(parts(source, k), reference)]
                marks.append(dots([n + dx for n in range(3)], multiples, source.signal, series))
                marks += [label(n + dx, m * 1.15, times(m), series, "center") for n, m in enumerate(multiples)]
                marks.append(label(2.5, 0.16 if series == 1 else 0.06, source.signal, series, "right"))
    else:
        marks.append(label(1, 1, "nothing fits", 1, "center"))
    return panel(
        "Factors of the recipe’s compute",
        "relative to a verifier with siblings; log scale",
        line([-0.5, 2.5], [1, 1], "", 8, "reference"),
        *marks,
        x="factor of the compute",
        log="y",
        x_range=[-0.5, 2.55],
        y_range=[0.05, 200],
        tab="Recipes",
        ticks=dict(tickvals=[0, 1, 2], ticktext=["cost", "variance", "1 ÷ signal²"], tickangle=0),
    )


def parts(source, k):
    assumptions = assumed(k)
    group, samples = ("group", 2) if source.signal == "pairs" else (source.baseline, k.samples)
    return (
        forces.cost(source.signal, source.baseline, source.anchored, assumptions),
        forces.variance(group, samples, k.foreseen, assumptions),
        1 / forces.signal(source.signal, source.anchored, assumptions) ** 2,
    )


HIGHEST = 300.0  # of the axis of compute


def by_memory(k, r):
    """The least compute that each memory allows."""
    best = [next((s for s in r.all if s.memory <= room), None) for room in ROOMS]
    marks = [line(ROOMS, [s.compute if s else None for s in best], "least compute", 1, "step")]
    last, foot = None, float("inf")  # of the words before
    for room, recipe in zip(ROOMS, best):
        if recipe and recipe is not last and recipe.compute < HIGHEST:
            anchor, below = "right" if room > 36 else "left", 2.2 * recipe.compute > foot
            high = min(0.88 * recipe.compute, 0.95 * foot) if below else 1.12 * recipe.compute
            marks.append(label(room + (0.3 if anchor == "left" else 7), high, called(recipe), 1, anchor, below))
            foot = high / 2 if below else high
        last = recipe
    if r.best:
        marks.append(dots([k.room], [r.best.compute], "here", role="here"))
    return panel(
        "Least compute, by memory",
        "compute to the target; log scale",
        threshold(17.9, "", 12, "x"),
        *marks,
        x="memory, bytes per weight",
        log="y",
        x_range=[12, 50],
        y_range=[0.3, HIGHEST],
        tab="Memory, critic",
    )


def by_foresight(k, r):
    """Least compute with siblings and with a critic, by how much of a completion's outcome is foreseen."""
    least_by = {"group": [], "critic": []}
    for s in FORESEEN:
        recipes = solutions(replace(k, foreseen=float(s)), float("inf"))
        for name, values in least_by.items():
            values.append(min((recipe.compute for recipe in recipes if baseline(recipe) == name), default=None))
    named = {"group": "siblings", "critic": "critic"}
    marks = [line(FORESEEN, values, named[name], 2 if name == "critic" else 1) for name, values in least_by.items()]
    marks.append(label(0.02, least_by["group"][0] * 1.1, "siblings", 1))
    marks.append(label(0.98, least_by["critic"][-1] * 1.1, "critic", 2, "right"))
    values = [v for v in (r.group, r.critic) if np.isfinite(v)]
    return panel(
        "Compute with siblings or a critic",
        "if memory were unlimited; log scale",
        *marks,
        dots([k.foreseen] * len(values), values, "here", role="here"),
        x="within-prompt variance a critic foresees",
        log="y",
        x_range=[0, 1],
        y_range=[0.3, 300],
        tab="Memory, critic",
    )


def over_both(k):
    """The least compute over what can be checked and what fits."""
    rooms = ROOMS[2:]
    compute, names = forces.compute_map(CHECKABLE[::2], rooms, k.foreseen, k.samples, assumed(k))
    marks = [heat(CHECKABLE[::2], rooms, np.log10(compute), "log10 of compute", -0.5, 2.2)]
    for column in (0, 5, 10):
        last, foot = None, 0.0
        for room, row in zip(rooms, names):
            if row[column] != last:
                foot = max(room - 0.9, foot + 3.4)  # not on the name below
                words = short(row[column])
                marks.append(label(CHECKABLE[::2][column], foot, words, 0, ("left", "center", "right")[column // 5]))
            last = row[column]
    return panel(
        "Least compute, by verifiers and memory",
        "log₁₀; a name where the best recipe changes",
        *marks,
        dots([k.checkable], [max(k.room, rooms[0])], "here", role="here"),
        x="share of prompts that have a verifier",
        x_range=[-0.05, 1.05],
        y_range=[17, 49],
        tab="Map, prices",
    )


def short(words):
    return words.split(" (")[0].split(",")[0]


def by_price(k):
    """A reward model's compute and a judge's, by the price of labels."""

    def scored(name, price):
        priced = replace(assumed(k), labels=float(price))
        return forces.effort(name, "group", True, k.samples, k.foreseen, priced)

    model, judge = ([scored(name, price) for price in PRICES] for name in forces.LEARNED)
    return panel(
        "Compute with people’s labels or a judge",
        "for a prompt without a verifier; log scale",
        line(PRICES, model, "reward model", 1),
        line(PRICES, judge, "judge", 2),
        label(20, model[-1] * 1.08, "reward model", 1, "right"),
        label(0.3, judge[0] * 1.08, "judge", 2),
        dots([k.labels] * 2, [scored(name, k.labels) for name in forces.LEARNED], "here", role="here"),
        x="price of labels, operations per weight and token",
        log="y",
        x_range=[0, 20],
        y_range=[1, 1000],
        tab="Map, prices",
    )


# What is said


def readouts(k, r):
    best = r.best
    scored = best and (best.unchecked or best.checked)
    return [
        Readout(
            "Least compute to the target",
            best.compute if best else "–",
            "FLOP/weight/token",
            forces.solve,
            "violated" if broken(k, r) else "assumed",
        ),
        Readout("Best recipe", called(best) if best else "nothing fits", "", forces.name),
        Readout(
            "Memory it needs", f"{best.memory:.0f} of {k.room}" if best else "–", "bytes per weight", forces.memory
        ),
        Readout(
            "Signal of the scorer",
            f"{forces.signal(scored.signal, scored.anchored, assumed(k)):.2f} ({scored.signal})" if best else "–",
            "",
            forces.signal,
        ),
        Readout("A critic saves compute from", pays(k, r), "", forces.solve),
    ]


def pays(k, r):
    """From which share foreseen on a critic takes no more than a group, in words."""
    if r.pays_from > 1:
        return Said("never", {"not even where all is foreseen": lambda: not critic_ahead(k, 1.0)})
    above, below = min(r.pays_from + 0.005, 1.0), max(r.pays_from - 0.005, 0.0)
    return Said(
        f"{100 * r.pays_from:.0f} % foreseen",
        {
            "above it does": lambda: critic_ahead(k, above),
            "below it does not": lambda: not below or not critic_ahead(k, below),
        },
    )


def sound(k, r):
    """Share of the prompts that are trained on with a signal that something holds in place, in %."""
    if not r.best:
        return 0.0
    poor = any(s and s.signal in forces.LEARNED and not s.anchored for s in (r.best.checked,))
    lost = r.best.dropped + (1 - k.checkable) * (r.best.unanchored and not r.best.dropped)
    return 0.0 if poor else 100 * (1 - lost)


def watched(k, r):
    return Gauge("Prompts with a sound signal", sound(k, r), 99.0, "%", below=True, expression="dropped or unanchored")


FITS, IGNORED, LOOSE = "too little memory for training", "prompts that are left out", "a scorer without its anchor"
SOURCES = ("reward_model", "judge", "pairs")
TURNED = ("room", *SOURCES, "dropped", "hacked", "offline", "checkable")
SURELY = dict(room=48, pairs=0.0, reward_model=0.28, judge=0.3, hacked=0.4, dropped=120.0, offline=0.7, labels=2.0)
SURELY |= dict(verifier=0.02, checkable=0.5, foreseen=0.2)


def seen_at(k, r, cause):
    words = {FITS: "not even this one fits", LOOSE: "its scorer has no anchor", IGNORED: "prompts are left out"}[cause]
    return At("Compute to the same target", None, None, words, called(r.best or r.all[0]))


def broken(k, r):
    if not r.best:
        why = f"No recipe fits into {k.room} bytes per weight, because training the whole model takes 18."
        claims = {
            "none fits": lambda: not any(s.memory <= k.room for s in r.all),
            "the least takes 18": lambda: min(s.memory for s in r.all) == 18 > k.room,
        }
        return Break(Said(why, claims), dict(room=18), FITS)

    def cheaper(knobs):
        return sane(knobs) and solutions(knobs, knobs.room)[0].compute <= r.best.compute

    order = SOURCES + TURNED if r.best.dropped else TURNED
    least = {"no other that fits takes less": lambda: cheapest(k, r) >= r.best.compute * (1 - 1e-9)}
    if r.best.unanchored:
        why = (
            f"The cheapest recipe, at {figures(r.best.compute)}, trusts a scorer that no anchor holds near its data. "
            "Every safer recipe that fits takes more."
        )
        claims = least | {
            "it is learned, and without a price of KL": lambda: any(loose(s) for s in sources(r.best)),
            "held near its data it takes more": lambda: cheapest(k, r, anchored=True) > r.best.compute,
        }
        cause, sentence = LOOSE, Said(why, claims)
    elif r.best.dropped:
        claims = least | {
            "so many prompts are left out": lambda: abs(r.best.dropped - (1 - k.checkable)) < 1e-9 < r.best.dropped,
            "at a higher price they are not": lambda: not solutions(replace(k, dropped=1e12), k.room)[0].dropped,
        }
        cause, sentence = IGNORED, Said(left_out(k, r), claims)
    else:
        return None
    fix = recovery.one_knob(k, order, cheaper) or recovery.one_knob(k, order, sane)
    return Break(sentence, fix or recovery.fewest(k, SURELY, sane), cause)


def sources(solution):
    return [s for s in (solution.unchecked, solution.checked) if s]


def loose(source):
    return source.signal in forces.LEARNED and not source.anchored


def cheapest(k, r, anchored=False):
    """The least compute of what fits, summed up once more from its prompts; of what is held near its data only."""
    fitting = [s for s in r.all if s.memory <= k.room and not (anchored and any(map(loose, sources(s))))]
    return min((summed(k, s) for s in fitting), default=float("inf"))


def summed(k, s):
    """Cost × variance ÷ signal² of either kind of prompts."""
    assumptions = assumed(k)

    def of(source):
        if source.signal == "pairs":
            return (8 + k.labels) * 2 / 6 / ((1 - 2 * k.pairs) * k.offline) ** 2
        wrong = dict(verifier=k.verifier, judge=k.judge).get(source.signal, k.reward_model)
        signal = (1 - 2 * wrong) * (k.hacked if loose(source) else 1)
        operations = 8 + dict(verifier=0, judge=4).get(source.signal, 2 + k.labels)
        operations += 2 * source.anchored + 8 * (source.baseline == "critic")
        within, between = 1 / 6, 1 / 12  # of pass rates that are uniform
        spread = dict(
            group=within * k.samples / (k.samples - 1),
            critic=(1 - assumptions.between) * between + (1 - k.foreseen) * within,
            batch=within + between,
        )
        return operations * spread[source.baseline] / signal**2

    rest = 1 - k.checkable
    unchecked = rest * (of(s.unchecked) if s.unchecked else k.dropped) if rest else 0.0
    return unchecked + (k.checkable * of(s.checked) if k.checkable else 0.0)


def left_out(k, r):
    """What leaving prompts out takes, and what training on all of them would, at the prices that are set."""
    trained = next((s.compute for s in r.found if not s.dropped), None)
    on_all = "No recipe for all of them fits" if trained is None else f"Training on all would take {figures(trained)}"
    return (
        f"{100 * r.best.dropped:.0f} % of the prompts are left out, because at a price of {k.dropped:g} the compute is "
        f"only {figures(r.best.compute)}. {on_all}."
    )


def sane(k):
    recipes = solutions(k, k.room)
    return bool(recipes) and not recipes[0].unanchored and not recipes[0].dropped


def worse(k, r):
    usual = solutions(Knobs(), Knobs().room)[0].compute
    if r.best.compute <= WORSE * usual:
        return None
    return Said(
        f"The cheapest recipe that fits takes {r.best.compute / usual:,.1f} times the compute of the default setting.",
        {
            "it fits": lambda: r.best.memory <= k.room,
            "it takes so much": lambda: np.isclose(summed(k, r.best), r.best.compute),
            "the first setting takes less": lambda: WORSE * cheapest(Knobs(), next(run(Knobs()))) < r.best.compute,
        },
    )


def holds(k, r):
    return Said(
        f"Of all recipes that fit, {called(r.best)} takes the least compute, {figures(r.best.compute)}. It needs "
        f"{r.best.memory:.0f} bytes per weight.",
        {
            "it takes so much": lambda: np.isclose(summed(k, r.best), r.best.compute),
            "nothing that fits takes less": lambda: cheapest(k, r) >= r.best.compute * (1 - 1e-9),
            "it fits": lambda: r.best.memory <= k.room,
            "it is trained whole, and has its other models": lambda: r.best.memory == max(map(held, sources(r.best))),
        },
    )


def held(source):
    """Bytes a weight: what trains, an engine, a reference, a scorer, and a critic that trains as well."""
    if source.signal == "pairs":
        return 18
    return 20 + 2 * source.anchored + 2 * (source.signal in forces.LEARNED) + 18 * (source.baseline == "critic")


# The first screen


TWO_RUNS = "24 bytes per weight", "22 bytes per weight"


def two_teams(plain, other):
    """Compute of the best that each can afford, and what is left of the signal of its scorer."""
    compute = [r.best.compute for r in (plain, other)]
    signal = [forces.signal(r.best.unchecked.signal, r.best.unchecked.anchored) for r in (plain, other)]
    names = dict(tickvals=[0, 1], ticktext=[TWO_RUNS[0], TWO_RUNS[1]])
    return [
        panel(
            "Compute to the same target",
            "relative; each runs the cheapest recipe that fits",
            bars([0], compute[:1], TWO_RUNS[0], 8),
            bars([1], compute[1:], TWO_RUNS[1], 1),
            *(label(n, c + 0.5, f"{c:.1f}", 0, "center") for n, c in enumerate(compute)),
            x_range=[-0.6, 1.6],
            y_range=[0, 42],
            ticks=names,
        ),
        panel(
            "Signal on prompts without a verifier",
            "1: a scorer that is never wrong",
            bars([0], signal[:1], TWO_RUNS[0], 8),
            bars([1], signal[1:], TWO_RUNS[1], 1),
            *(label(n, share + 0.01, f"{share:.2f}", 0, "center") for n, share in enumerate(signal)),
            x_range=[-0.6, 1.6],
            y_range=[0, 1],
            ticks=names,
        ),
    ]


OPENING = Opening(Knobs(room=24, pairs=0.36), Knobs(room=22, pairs=0.36), two_teams, forces.solve, TWO_RUNS)
