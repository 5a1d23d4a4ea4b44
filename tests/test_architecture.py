"""Arrows point one way, randomness is an argument, every model names its source, and scripts and styles are plain."""

import ast
import graphlib
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from tools.pages import inputs

ROOT = Path(__file__).parents[1]
SIM = sorted((ROOT / "sim").rglob("*.py"))
RLPT = sorted(file for file in (ROOT / "rlpt").rglob("*.py") if file.parent.name != "data")
WIDGETS = sorted((ROOT / "widgets").rglob("*.py"))
SCRIPTS = [*(ROOT / "site").glob("*.js"), *(ROOT / "site" / "assets").glob("*.js")]
BESIDE = [file for folder in ("tools", "tests", "bench") for file in (ROOT / folder).rglob("*.*js")]
SHEETS = sorted((ROOT / "site" / "assets").rglob("*.css"))


def shown(file):
    return file.relative_to(ROOT).as_posix()


@cache
def text(file):
    return file.read_text(encoding="utf-8")


@cache
def nodes(file):
    """The nodes of a module's tree that import or call something."""
    return [
        node for node in ast.walk(ast.parse(text(file))) if isinstance(node, ast.Import | ast.ImportFrom | ast.Call)
    ]


parses = pytest.mark.slow  # alone on its process such a test parses every file


def none(offenders):
    """Fail if a rule is broken, with all sentences about it, one a line."""
    __tracebackhide__ = True
    offenses = list(offenders)
    assert not offenses, "\n".join(offenses)


def imports(file):
    """The modules a file imports; `from sim import kl` counts as sim.kl."""
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (
                (f"{node.module}.{alias.name}" for alias in node.names)
                if node.module in ("sim", "rlpt", "widgets")
                else [node.module]
            )


@parses
def test_sim_knows_numpy_the_standard_library_and_itself():
    none(
        f"{shown(file)} imports {foreign}; sim/ imports numpy, the standard library and itself"
        for file in SIM
        if (foreign := {name.split(".")[0] for name in imports(file)} - sys.stdlib_module_names - {"numpy", "sim"})
    )


@parses
def test_rlpt_knows_sim_and_what_sim_knows():
    none(
        f"{shown(file)} imports {foreign}; rlpt/ imports sim/, numpy, the standard library and itself"
        for file in RLPT
        if (foreign := {name.split(".")[0] for name in imports(file)} - ALLOWED - OPTIONAL.get(shown(file), set()))
    )


OPTIONAL = {"rlpt/rollouts/parquet.py": {"pyarrow"}}  # an extra of pyproject.toml, imported once a file needs it
ALLOWED = sys.stdlib_module_names | {"numpy", "sim", "rlpt"}

# The rooms of sim/, and the rooms that each may import from; words know no room.
ROOMS = dict(
    worlds=set(),
    cluster={"words"},
    estimators={"worlds"},
    algorithms={"estimators"},
    verifiers={"worlds", "estimators"},
    lab={"worlds", "estimators", "verifiers"},
    framework={"worlds", "estimators"},
    experiments={"worlds", "estimators", "verifiers", "algorithms", "framework", "pipeline", "cluster"},
    pipeline={"worlds", "estimators", "algorithms", "framework"},
    rollouts={"estimators"},
    synthesis={"worlds", "estimators", "verifiers", "algorithms", "framework", "experiments", "cluster"},
)


@parses
def test_imports_between_the_folders_of_sim_point_one_way():
    def others(file):
        room = file.relative_to(ROOT / "sim").parts[0]
        return room, sorted({name.split(".")[1] for name in imports(file) if name.startswith("sim.")} - {room})

    none(
        f"{shown(file)}: sim/{room} may import from {sorted(ROOMS[room]) or 'no other room'}, not all of {imported}"
        for file in SIM
        if file.parent.name != "sim"
        for room, imported in [others(file)]
        if not ROOMS[room].issuperset(imported)
    )


# The rooms of widgets/frame, and those that each may import from. A widget imports what it is made of (contract) and
# what it is drawn with (drawing), and does not know how both come before a reader (reader).
FRAME = dict(drawing=set(), contract={"drawing"}, reader={"drawing", "contract"})
FOR_WIDGETS = {"widgets.frame.contract", "widgets.frame.drawing"}


def packages(file):
    """The packages of widgets/ that a file imports from: widgets.frame.drawing, widgets.ppo."""
    names = [name.split(".") for name in imports(file) if name.startswith("widgets.")]
    return {".".join(name[: 3 if name[1] == "frame" else 2]) for name in names}


@parses
def test_widgets_know_their_own_page_contract_and_drawing_and_not_one_another():
    none(
        f"{shown(file)} imports {found}; a widget imports numpy, sim/, rlpt/, its own page, and {FOR_WIDGETS}"
        for file in WIDGETS
        if "frame" not in file.parts
        for found in [
            packages(file) - FOR_WIDGETS - {f"widgets.{file.parent.name}"}
            | {name for name in imports(file) if name.split(".")[0] not in ALLOWED | {"widgets"}}
        ]
        if found
    )


@parses
def test_the_rooms_of_the_frame_import_one_way_and_no_page():
    none(
        f"{shown(file)} imports {foreign}; its room may import {sorted(FRAME[file.parent.name]) or 'no other'}"
        for file in WIDGETS
        if file.parent.parent.name == "frame"
        for rooms in [FRAME[file.parent.name] | {file.parent.name}]
        if (foreign := packages(file) - {f"widgets.frame.{room}" for room in rooms})
    )


@parses
def test_no_modules_import_one_another_in_a_circle():
    modules = {file for file in [*SIM, *RLPT, *WIDGETS] if file.name != "__init__.py"}
    used = {file: {inputs.file_of(name) for name in inputs.read(file)[0]} & modules - {file} for file in modules}
    graphlib.TopologicalSorter(used).prepare()


# arXiv:2402.03300, Amdahl (1967)
PAPER = r"arXiv:\d{4}\.\d{4,5}\b|\bdoi\.org/10\.|[A-Z]\w+( et al\.| and [A-Z]\w+)? \((19|20)\d\d\)"
ORIGIN = re.compile(PAPER + r"|\b[Cc]losed form\b|\bnot a model\b")


def test_every_simulation_module_says_what_it_models_and_names_its_source():
    accepted = "its paper (arXiv:0000.00000, a DOI, Name (year)), closed form, or not a model"
    none(
        f"the docstring of {shown(file)} does not say where it comes from: {accepted}"
        for file in SIM
        if file.name != "__init__.py" and not ORIGIN.search(ast.get_docstring(ast.parse(text(file))) or "")
    )


IMPURE = re.compile(r"np\.random\.(seed|rand|normal|choice)\(|^\s*print\(|\bopen\(|\btime\.(time|perf)", flags=re.M)


def test_sim_has_no_side_effects_or_hidden_randomness():
    none(
        f"{shown(file)} has {match[0]}: sim/ is pure, and randomness comes in as an argument rng"
        for file in SIM
        if file.name != "tasks.py"
        and (match := IMPURE.search(re.split(r"^(?:def main\(|if __name__)", text(file), maxsplit=1, flags=re.M)[0]))
    )


# In the page whole numbers have 32 bits unless they say otherwise, no operation warns, and a singular matrix raises
# nothing.
ELSEWHERE = re.compile(
    r"astype\(int\)|dtype=int\b|np\.int[_p]\b|FloatingPointError|LinAlgError|(errstate|seterr)\([^)]*(raise|warn)|linalg\.(inv|solve)\b"
)


def test_no_code_relies_on_numpy_features_that_differ_in_the_browser():
    none(
        f'{shown(file)} has {match[0]}, which acts otherwise in the browser (CONTRIBUTING.md, "Style")'
        for file in [*SIM, *RLPT, *WIDGETS]
        if (match := ELSEWHERE.search(text(file)))
    )


def test_the_pages_scripts_hold_no_mathematics():
    none(f"{shown(file)} has Math." for file in SCRIPTS if "Math." in text(file))


def too_long(files):
    """Every line of more than 120 characters, and where it is."""
    return [
        f"{file.relative_to(ROOT)}:{number} has {len(line)} characters, and 120 are the most"
        for file in files
        for number, line in enumerate(text(file).splitlines(), 1)
        if len(line) > 120
    ]


def opened_as_the_machine_likes(file):
    """The lines at which a text file is read or written without its encoding, which differs between machines."""
    for node in nodes(file):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            binary = any("b" in str(getattr(word, "value", "")) for word in node.args[1:2])
            opened = name in ("read_text", "write_text") or (isinstance(node.func, ast.Name) and name == "open")
            if opened and not binary and not any(word.arg == "encoding" for word in node.keywords):
                yield f"{shown(file)}:{node.lineno}"


@parses
def test_every_text_file_is_opened_with_its_encoding():
    beside = [file for folder in ("tools", "bench") for file in (ROOT / folder).rglob("*.py")]
    python = [ROOT / "build.py", *SIM, *RLPT, *WIDGETS, *beside]
    assert not (lines := [line for file in python for line in opened_as_the_machine_likes(file)]), (
        f"{', '.join(lines)}: without encoding= a file is read otherwise on Windows"
    )


def test_no_line_of_script_or_style_is_longer_than_120_characters():
    assert not (long := too_long([*SCRIPTS, *BESIDE, *SHEETS])), "\n".join(long)


ONLY_ON = {  # kinds of pages; the others are on all
    **dict.fromkeys(("embed.js", "widget.js", "knobs.js", "status.js"), ("lesson", "own", "map", "compare")),
    "map.js": ("map",),
    "play.js": ("lesson", "lab"),
    "scene.js": ("lesson", "own", "map", "compare", "doctor"),
    "pairs.js": ("compare",),
    "own.js": ("own", "lab"),
    "sort.js": ("lab",),
    "note.js": ("lab",),
    "editing.js": ("own", "lab"),
    "change.js": (),  # with editing.js a lesson asks for it when the fold of its function is opened
    "export.js": (),  # and for this one with another fold
    "typed.js": (),  # when a number is typed
    "found.js": (),  # when a break was found, or a challenge met
    "store.js": ("home",),  # elsewhere once Python has started
    "sandbox.js": (),  # asked for when readers run code, or bring a log
    "doctor.js": ("doctor",),
    "dropped.js": ("doctor", "rollouts"),
    "files.js": ("doctor", "rollouts"),
    "rollouts.js": ("rollouts",),
    "keep.js": ("home",),
    "progress.js": ("home",),
}


def test_the_scripts_of_a_page_weigh_at_most_62_kB():
    def weigh(kind):
        return sum(file.stat().st_size for file in SCRIPTS if kind in ONLY_ON.get(file.name, (kind,)))

    none(
        f"the scripts of a page of kind {kind} weigh {weight} bytes, and 62,000 are the most"
        for kind in sorted(set(sum(ONLY_ON.values(), ())))
        if (weight := weigh(kind)) > 62_000
    )


def test_a_script_of_one_kind_of_page_stands_in_the_content_of_that_page_alone():
    """The others are asked for: by folds that open, by the head (embed.js), by others."""
    shell = (ROOT / "site" / "main.html").read_text(encoding="utf-8")
    content, scripts = re.findall(r"{% block (?:content|scripts) %}(.*?){% endblock %}", shell, flags=re.S)
    for name in ONLY_ON:
        requested = name in (
            "change.js",
            "editing.js",
            "sandbox.js",
            "export.js",
            "typed.js",
            "embed.js",
            "knobs.js",
            "status.js",
            "found.js",
            "scene.js",
            "dropped.js",
            "files.js",
            "store.js",
        )
        assert (f"assets/{name}" in content or requested) and f'"{name.removesuffix(".js")}"' not in scripts


RUNS_TEXT = "widgets/frame/reader/reader_code.py"  # readers' code; in the page it has a sandbox (sandbox.js)


@parses
def test_only_one_module_compiles_or_executes_text():
    none(
        f"{shown(file)}:{node.lineno} calls {node.func.id}"
        for file in (*SIM, *RLPT, *WIDGETS)
        if shown(file) != RUNS_TEXT
        for node in nodes(file)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"exec", "eval", "compile", "__import__"}
    )


def test_every_script_says_its_one_job_first():
    none(
        f"the first line of {shown(file)} is no comment that says its job"
        for file in [*SCRIPTS, *BESIDE]
        if not text(file).startswith("// ")
    )


def test_every_css_declaration_has_its_own_line():
    for file in SHEETS:
        plain = re.sub(
            r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), file.read_text(encoding="utf-8"), flags=re.S
        )
        for number, line in enumerate(plain.splitlines(), 1):
            assert len(re.findall("[;{}]", line)) <= 1, (
                f"{file.relative_to(ROOT)}:{number} holds more than one declaration or brace: {line.strip()}"
            )


def test_the_style_sheet_names_every_file_of_its_folder_once():
    folder = ROOT / "site" / "assets" / "style"
    imported = re.findall(r"@import url\(style/(.+)\);", (folder.parent / "style.css").read_text(encoding="utf-8"))
    assert sorted(imported) == sorted(file.name for file in folder.iterdir()), (
        "site/assets/style.css is the order of the cascade: every file, once"
    )


def test_every_module_of_sim_and_rlpt_has_a_test_of_its_name():
    none(
        f"{shown(file)} has no {shown(tested)}"
        for file in [*SIM, *RLPT]
        if file.name not in ("__init__.py", "__main__.py")
        for tested in [ROOT / "tests" / file.relative_to(ROOT).with_name(f"test_{file.name}")]
        if not tested.exists()
    )
