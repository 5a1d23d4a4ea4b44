"""The step to a GPU: scripts that a reader takes away, one for each page about an algorithm and each trainer that has
it, such as run/rloo-trl.py. Each is whole: a text of rlpt/data with the book's scorer, its prompts, and the
algorithm of that page written into it, and in TRL's what keeps the completions.
"""

import ast
import inspect
import re
from importlib.resources import files
from textwrap import indent

from rlpt import options
from sim.algorithms import dapo, dr_grpo, grpo, ppo, reinforce, rloo
from sim.algorithms.names import FILES
from sim.algorithms.recipes import NAMED
from sim.worlds import scorer, tasks

PROGRAMS = ("TRL", "verl")
BATCH = dict(samples=8, prompts=4)  # completions of a prompt, prompts of a batch
LONGEST = dict(completion=32)  # tokens of a completion
# {page: {name: setting}}: the algorithm itself, whatever the knobs of its page are set to
ALGORITHMS = {
    "reinforce": {"REINFORCE": options.setting(reinforce, estimator="minus the mean", **BATCH)},
    "ppo": {"PPO": options.setting(ppo, **BATCH)},
    "grpo": {"GRPO": options.setting(grpo, dict(beta=0.0), **BATCH)},
    "rloo": {"RLOO": options.setting(rloo, samples=4, prompts=4)},
    "dapo": {"DAPO": options.setting(dapo, dict(L_cache=8), **BATCH, **LONGEST)},
    "dr_grpo": {"Dr. GRPO": options.setting(dr_grpo, **BATCH)},
    "compare": {name: options.setting(file, **BATCH, **LONGEST) for name, file in FILES.items()}
    | {
        name: options.setting(recipe.file, recipe.hyper, recipe.hooks, **BATCH, **LONGEST)
        for name, recipe in NAMED.items()
    },
}
# The learning rate of the tiny model: at 1e-3 RLOO, and DAPO and Dr. GRPO with four passes over a batch, ruin it within
# twenty batches
TINY_RATE = "3e-4"
KEEPERS = {"GRPO": "keep_training.py", "RLOO": "keep_rollouts.py"}  # callbacks that see to the completions


def of(page):
    """{words of a link: file} of the scripts that stand under a widget's setting; {} for pages without an algorithm
    that trains on rewards. A program that does not have the algorithm has no script.
    """
    named = ALGORITHMS.get(page, {})
    return {
        program if len(named) == 1 else f"{name} ({program})": path(page, name, program)
        for name, setting in named.items()
        for program in PROGRAMS
        if exists(program, setting)
    }


def path(page, name, program):
    of_page = page.replace("_", "-")
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"run/{of_page if len(ALGORITHMS[page]) == 1 else f'{of_page}-{plain}'}-{program.lower()}.py"


def exists(program, setting):
    """Whether a program trains by this setting: its text is options, and not a remark, and none of them is wanting."""
    text = options.text(program, setting)
    return options.START.get(program, "Config(\n") in text and "has no option for" not in text


def write(site, address):
    """All scripts into run/ of a folder; `address` is where the book stands, for the page that reads their logs."""
    (site / "run").mkdir(exist_ok=True)
    for page, named in ALGORITHMS.items():
        for name, setting in named.items():
            for program in PROGRAMS:
                if exists(program, setting):
                    text = script(program, name, setting, path(page, name, program), address)
                    (site / path(page, name, program)).write_text(text, encoding="utf-8", newline="\n")


def script(program, name, setting, file, address):
    """The text of a script: every name in capitals that begins with THE_, or ends with _VERSION, is filled in."""
    text = options.text(program, setting)
    values = dict(
        TRL_VERSION=options.VERSIONS["TRL"],
        VERL_VERSION=options.VERSIONS["verl"],
        THE_ALGORITHM=name,
        THE_DOCTOR=f"{address}doctor/",
        THE_ROLLOUTS=f"{address}rollouts/",
        THE_FILE=file.removeprefix("run/"),
        THE_FOLDER=file.removeprefix("run/").removesuffix(".py"),
        THE_SCORER=quoted("sim/worlds/scorer.py", inspect.getsource(scorer)),
        THE_PROMPTS=prompts(),
        THE_CONFIG=dict(TRL=in_python, verl=in_hydra)[program](text),
    )
    if program == "TRL":
        trainer = "RLOO" if "RLOOConfig(" in text else "GRPO"
        keeper = f"rlpt/rollouts/data/{KEEPERS[trainer]}"
        kept = quoted(keeper, (files("rlpt.rollouts") / "data" / KEEPERS[trainer]).read_text(encoding="utf-8"))
        values |= dict(THE_TRAINER=trainer, THE_KEEPER=kept, THE_TINY_RATE=TINY_RATE, THE_OVERLONG=overlong(setting))
    template = (files("rlpt") / "data" / f"{program.lower()}.py").read_text(encoding="utf-8")
    return re.sub("|".join(values), lambda match: values[match[0]], template)


def in_python(text):
    """The options between the brackets of GRPOConfig(…)."""
    return "\n" + "\n".join(text.partition("(\n")[2].splitlines()[:-1]) + "\n"


def in_hydra(text):
    """The lines of options. Groups are filtered by what is paid: `acc` is the second opinion in these scripts."""
    lines = text.partition(options.START["verl"])[2].replace("filter_groups.metric=acc", "filter_groups.metric=score")
    return indent("\n".join(line.strip() for line in lines.replace("\\", "").splitlines() if line.strip()), "    ")


def overlong(setting):
    """Tokens before the longest completion from which on its price rises; 0: there is none."""
    return str(setting.get("overlong", 0))


def quoted(path, text):
    """The text of a module as a block of another one: its docstring becomes a comment."""
    docstring, body = ast.get_docstring(ast.parse(text)), text.partition('"""\n')[2]
    heading = f"{path} of the book, word for word"
    return "\n".join([f"# {heading}", *(f"# {line}".rstrip() for line in docstring.splitlines()), body.strip("\n")])


def prompts():
    """The hundred examples of `Add` as a list of pairs, five a line."""
    pairs = [(example["id"], example["expected_answer"]) for example in tasks.Add.examples]
    lines = [", ".join(map(repr, pairs[i : i + 5])) for i in range(0, len(pairs), 5)]
    return "[\n" + "".join(f"    {line},\n" for line in lines) + "]"
