"""Arrows point one way, randomness is an argument, every model names its source, and scripts and styles are plain."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SIM = sorted((ROOT / "sim").rglob("*.py"))
WIDGETS = sorted((ROOT / "widgets").rglob("*.py"))
SCRIPTS = [*(ROOT / "site").glob("*.js"), *(ROOT / "site" / "assets").glob("*.js")]
BESIDE = [file for folder in ("tools", "tests", "bench") for file in (ROOT / folder).rglob("*.*js")]
SHEETS = sorted((ROOT / "site" / "assets").rglob("*.css"))
named = dict(ids=lambda file: shown(file))


def shown(file):
    return file.relative_to(ROOT).as_posix()


def imports(file):
    """The modules a file imports; `from sim import kl` counts as sim.kl."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (
                (f"{node.module}.{alias.name}" for alias in node.names)
                if node.module in ("sim", "widgets")
                else [node.module]
            )


@pytest.mark.parametrize("file", SIM, **named)
def test_sim_knows_numpy_the_standard_library_and_itself(file):
    foreign = {name.split(".")[0] for name in imports(file)} - sys.stdlib_module_names - {"numpy", "sim"}
    assert not foreign, f"{shown(file)} imports {foreign}; sim/ imports numpy, the standard library and itself"


# The rooms of sim/, and the rooms that each may import from. Programs to be started (__main__.py, run.py) stand above
# all of them, and what their command lines share is a module that knows no room.
ROOMS = dict(
    worlds=set(),
    cluster={"arguments"},
    estimators={"worlds"},
    algorithms={"estimators", "cluster"},  # the versions of the trainers that both say options of
    verifiers={"worlds", "estimators"},
    framework={"worlds", "estimators"},
    experiments={"worlds", "estimators", "verifiers", "algorithms", "framework"},
    pipeline={"worlds", "estimators", "algorithms", "framework"},
    synthesis={"worlds", "estimators", "verifiers", "algorithms", "framework", "experiments", "cluster"},
)


@pytest.mark.parametrize("file", [f for f in SIM if f.parent.name != "sim" and f.name != "__main__.py"], **named)
def test_arrows_between_the_rooms_of_sim_point_one_way(file):
    room = file.relative_to(ROOT / "sim").parts[0]
    others = {name.split(".")[1] for name in imports(file) if name.startswith("sim.")} - {room}
    assert others <= ROOMS[room], (
        f"sim/{room} may import from {sorted(ROOMS[room]) or 'no other room'}, not from {sorted(others - ROOMS[room])}"
    )


@pytest.mark.parametrize("file", WIDGETS, **named)
def test_widgets_know_sim_and_their_contract_but_not_one_another(file):
    foreign = {name for name in imports(file) if name.split(".")[0] not in sys.stdlib_module_names | {"numpy", "sim"}}
    foreign -= {"widgets.frame", "widgets.frame.back", "widgets.frame.contract", "widgets.frame.marks"}
    foreign -= {f"widgets.{file.stem}"} if file.parent.name == "exercises" else set()
    assert not foreign, f"{shown(file)} imports {foreign}; a widget imports numpy, sim/, back, contract and marks"


# arXiv:2402.03300, Amdahl (1967)
PAPER = r"arXiv:\d{4}\.\d{4,5}\b|\bdoi\.org/10\.|[A-Z]\w+( et al\.| and [A-Z]\w+)? \((19|20)\d\d\)"
ORIGIN = re.compile(PAPER + r"|\b[Cc]losed form\b|\bno model of anything\b")


@pytest.mark.parametrize("file", [f for f in SIM if f.name not in ("__init__.py", "__main__.py", "run.py")], **named)
def test_every_model_says_what_it_is_and_where_it_comes_from(file):
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    said = "its paper (arXiv:0000.00000, a DOI, Name (year)), closed form, or no model of anything"
    assert ORIGIN.search(text), f"the docstring of {shown(file)} does not say where it comes from: {said}"


@pytest.mark.parametrize("file", [f for f in SIM if f.name not in ("__main__.py", "run.py", "tasks.py")], **named)
def test_sim_is_pure(file):
    code = file.read_text(encoding="utf-8").split("if __name__")[0]
    found = re.search(
        r"np\.random\.(seed|rand|normal|choice)\(|^\s*print\(|\bopen\(|\btime\.(time|perf)", code, flags=re.M
    )
    assert not found, f"{shown(file)} has {found[0]}: sim/ is pure, and randomness comes in as an argument rng"


# In the page whole numbers have 32 bits unless they say otherwise, no operation warns, and a singular matrix raises
# nothing.
ELSEWHERE = re.compile(
    r"astype\(int\)|dtype=int\b|np\.int[_p]\b|FloatingPointError|LinAlgError|(errstate|seterr)\([^)]*(raise|warn)|linalg\.(inv|solve)\b"
)


@pytest.mark.parametrize("file", [*SIM, *WIDGETS], **named)
def test_nothing_rests_on_what_numpy_does_otherwise_in_the_browser(file):
    found = ELSEWHERE.search(file.read_text(encoding="utf-8"))
    assert not found, f'{shown(file)} has {found[0]}, which acts otherwise in the browser (CONTRIBUTING.md, "Style")'


def test_the_pages_scripts_hold_no_mathematics():
    assert not [f.name for f in SCRIPTS if "Math." in f.read_text(encoding="utf-8")]


def too_long(files):
    """Every line of more than 120 characters, and where it is."""
    return [
        f"{file.relative_to(ROOT)}:{number} has {len(line)} characters, and 120 are the most"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 120
    ]


def opened_as_the_machine_likes(file):
    """The lines at which a text file is read or written without its encoding, which differs between machines."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            binary = any("b" in str(getattr(word, "value", "")) for word in node.args[1:2])
            text = name in ("read_text", "write_text") or (isinstance(node.func, ast.Name) and name == "open")
            if text and not binary and not any(word.arg == "encoding" for word in node.keywords):
                yield f"{shown(file)}:{node.lineno}"


def test_every_text_file_is_opened_with_its_encoding():
    python = [ROOT / "build.py", *SIM, *WIDGETS, *(ROOT / "tools").rglob("*.py"), *(ROOT / "bench").rglob("*.py")]
    assert not (found := [line for file in python for line in opened_as_the_machine_likes(file)]), (
        f"{', '.join(found)}: without encoding= a file is read otherwise on Windows"
    )


def test_no_line_of_script_or_style_is_longer_than_120_characters():
    assert not (long := too_long([*SCRIPTS, *BESIDE, *SHEETS])), "\n".join(long)


ONLY_ON = {  # kinds of pages; the others are on all
    **dict.fromkeys(
        ("embed.js", "widget.js", "knobs.js", "status.js", "found.js"), ("lesson", "own", "map", "compare")
    ),
    "map.js": ("map",),
    "pairs.js": ("compare",),
    "own.js": ("own",),
    "editing.js": ("own",),
    "change.js": (),  # with editing.js a lesson asks for it when the fold of its function is opened
    "take.js": (),  # and for this one with another fold
    "sandbox.js": (),  # asked for when readers run code, or bring a log
    "doctor.js": ("doctor",),
    "keep.js": ("home",),
    "progress.js": ("home",),
}


@pytest.mark.parametrize("kind", sorted(set(sum(ONLY_ON.values(), ()))))
def test_the_scripts_of_a_page_weigh_at_most_52_kB(kind):
    weight = sum(file.stat().st_size for file in SCRIPTS if kind in ONLY_ON.get(file.name, (kind,)))
    assert weight <= 52_000, f"the scripts of a page of kind {kind} weigh {weight} bytes, and 52,000 are the most"


def test_a_script_of_one_kind_of_page_stands_in_the_content_of_that_page_alone():
    """The others are asked for: by folds that open, by the head (embed.js), by others."""
    shell = (ROOT / "site" / "main.html").read_text(encoding="utf-8")
    content, scripts = re.findall(r"{% block (?:content|scripts) %}(.*?){% endblock %}", shell, flags=re.S)
    for name in ONLY_ON:
        asked = name in (
            "change.js",
            "editing.js",
            "sandbox.js",
            "take.js",
            "embed.js",
            "knobs.js",
            "status.js",
            "found.js",
        )
        assert (f"assets/{name}" in content or asked) and f'"{name.removesuffix(".js")}"' not in scripts


RUNS_TEXT = "widgets/frame/own.py"  # readers' code, which in the page has a sandbox (site/assets/sandbox.js)


@pytest.mark.parametrize("file", [f for f in (*SIM, *WIDGETS) if shown(f) != RUNS_TEXT], **named)
def test_one_module_alone_makes_code_of_a_text(file):
    called = {
        node.func.id
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not (found := called & {"exec", "eval", "compile", "__import__"}), f"{shown(file)} calls {found}"


@pytest.mark.parametrize("file", [*SCRIPTS, *BESIDE], **named)
def test_every_script_says_its_one_job_first(file):
    assert file.read_text(encoding="utf-8").startswith("// "), (
        "the first line of a script is a comment that says its job"
    )


def test_every_declaration_has_its_own_line():
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


@pytest.mark.parametrize("file", [f for f in SIM if f.name not in ("__init__.py", "__main__.py")], **named)
def test_every_module_of_sim_has_a_test_of_its_name(file):
    tested = ROOT / "tests" / file.relative_to(ROOT).with_name(f"test_{file.name}")
    assert tested.exists(), f"{shown(file)} has no {shown(tested)}"
