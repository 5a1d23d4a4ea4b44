"""A result is computed once for every state of what it depends on, and never taken from another state."""

import os
import re
from types import SimpleNamespace

import pytest

from tools.pages import inputs, results
from tools.pages import sums as sums_of
from tools.runtime import files
from widgets.frame.reader import pages

TREE = {
    "sim/__init__.py": "",
    "sim/kl.py": "import numpy as np\n",
    "sim/other.py": "",
    "sim/worlds/__init__.py": "",
    "sim/worlds/tasks.py": "from importlib.resources import files\nSTART = files('sim.worlds') / 'data'\n",
    "sim/worlds/data/start.npz": "1 2 3",
    "sim/runs.py": "def start():\n    from sim.worlds import tasks\n    return tasks.START\n",
    "widgets/__init__.py": "",
    "widgets/closed.py": "from sim import kl\n",
    "widgets/trained.py": "import sim.runs\n",
}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A small repository; the function writes one of its files and says whose sums have changed by it."""
    monkeypatch.setattr(inputs, "ROOT", tmp_path)
    for name, text in TREE.items():
        files.write(tmp_path / name, text)
    before = sums()

    def changed_by(name, text="X = 1\n"):
        files.write(tmp_path / name, text)
        current = sums()
        return [name for name in current if current[name] != before[name]]

    yield changed_by
    forget()


def forget():
    for function in (inputs.file_of, inputs.read, inputs.content):
        function.cache_clear()


def sums():
    forget()
    return {name: sums_of.digest(f"widgets.{name}") for name in ("closed", "trained")}


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("widgets/closed.py", ["closed"]),
        ("sim/kl.py", ["closed"]),
        ("sim/runs.py", ["trained"]),
        ("sim/worlds/tasks.py", ["trained"]),  # imported by what is imported, inside a function
        ("sim/worlds/data/start.npz", ["trained"]),  # read by it
        ("sim/worlds/data/finish.npz", ["trained"]),
        ("sim/__init__.py", ["closed", "trained"]),
        ("sim/worlds/__init__.py", ["trained"]),
        ("sim/other.py", []),
        ("widgets/new.py", []),
        ("lessons/00.md", []),
    ],
)
def test_a_widget_s_checksum_changes_only_with_the_files_it_imports_and_reads(tree, file, changed):
    assert tree(file) == changed


def test_two_files_that_swap_their_contents_change_the_checksum(tree):
    assert tree("sim/runs.py", TREE["sim/worlds/tasks.py"]) == ["trained"]


def test_disabling_vector_instructions_counts_as_another_machine(monkeypatch):
    for name, replacement in (
        ("FEATURES", {**sums_of.FEATURES, "FMA3": not sums_of.FEATURES.get("FMA3")}),
        ("sys", None),
    ):
        sums_of.machine.cache_clear()
        this_machine = sums_of.machine()
        sums_of.machine.cache_clear()
        monkeypatch.setattr(sums_of, name, replacement or SimpleNamespace(version="another Python"))
        assert sums_of.machine() != this_machine
        monkeypatch.undo()
    sums_of.machine.cache_clear()
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", "AVX2")
    assert sums_of.machine() != this_machine
    monkeypatch.undo()
    sums_of.machine.cache_clear()
    assert sums_of.machine() == this_machine


@pytest.mark.slow
def test_runs_import_modules_by_name_and_read_data_where_the_checksum_looks():
    hidden = re.compile(
        r"\b(import_module|__import__|runpy|exec|eval|read_text|read_bytes)\b|\bopen\(|\bfrom \.|\bfiles\((?!\")"
    )
    of_a_run = inputs.closure(
        *(f"widgets.{page}.{kind}" for kind in ("widget", "figures") for page in pages.having(kind))
    )
    hiding = []
    for file in (file for file in of_a_run if file.suffix == ".py"):
        text = file.read_text(encoding="utf-8")
        text = re.sub(r'\(files\("[\w.]+"\) / "data" / [^\n]+\)\.read_text\(', "(", text)  # where the sum looks
        hidden_reads = [match[0] for match in hidden.finditer(text)]
        hidden_reads += ["np.load"] if "np.load(" in text and 'files("' not in text else []
        hiding += [f"{file.relative_to(inputs.ROOT).as_posix()}: {word}" for word in hidden_reads]
    assert not hiding, "\n".join(["tools/pages/inputs.py does not see what a run depends on here:", *hiding])


def test_every_file_of_data_is_read_by_a_module():
    modules = [
        ".".join(file.relative_to(inputs.ROOT).with_suffix("").parts) for file in inputs.ROOT.glob("sim/**/*.py")
    ]
    modules.append("widgets.frame.reader.doctor")  # for the logs that its page opens on
    data = {file for file in (inputs.ROOT / "sim").rglob("data/*") if file.is_file()}
    assert data and data <= set(inputs.closure(*modules))


# --- the files


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A widget whose runs are counted, and a place of its own for its results."""
    ran = []

    def run(knobs):
        ran.append((knobs, widget.SEEDS))
        yield "first"
        yield f"{knobs} of {widget.SEEDS}"

    widget = SimpleNamespace(run=run, SEEDS=6, ran=ran, Knobs=lambda: "default")
    monkeypatch.setattr(results, "KEPT", tmp_path)
    monkeypatch.setattr(results, "in_memory", {})
    monkeypatch.setattr(results.host, "widget", lambda name: widget)
    monkeypatch.setattr(results, "code", lambda name: "as it is")
    return widget


def fresh(**constants):
    """The result as another process would get it, whose memory is empty."""
    results.in_memory.clear()
    return results.last("counted", **constants)


def test_a_setting_is_run_once(shelf):
    assert [fresh(), fresh(), results.last("counted", "default")] == ["default of 6"] * 3
    assert len(shelf.ran) == 1


def test_fewer_seeds_are_another_setting_and_the_module_s_own_number_is_not(shelf):
    assert [fresh(SEEDS=2), fresh(), fresh(SEEDS=6)] == ["default of 2", "default of 6", "default of 6"]
    assert shelf.ran == [("default", 2), ("default", 6)] and shelf.SEEDS == 6


def test_a_setting_is_run_again_after_the_code_has_changed(shelf, monkeypatch):
    fresh()
    monkeypatch.setattr(results, "code", lambda name: "as it is now")
    fresh()
    assert len(shelf.ran) == 2


def test_results_of_another_start_are_not_mixed_with_the_usual_results(shelf):
    fresh()
    with results.apart("another start"):
        assert results.last("counted") and len(shelf.ran) == 2  # not even from memory
        fresh()
    fresh()
    assert len(shelf.ran) == 2


@pytest.mark.parametrize("damage", [lambda whole: whole[:-1], lambda whole: b"", lambda whole: whole[:-1] + b"X"])
def test_a_damaged_result_file_is_never_read(shelf, tmp_path, damage):
    fresh()
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert fresh() == "default of 6" and len(shelf.ran) == 2
    assert file.read_bytes() == whole and list(tmp_path.iterdir()) == [file]


def test_a_run_that_fails_leaves_nothing_and_the_constants_as_they_were(shelf, tmp_path):
    shelf.run = lambda knobs: (_ for _ in [1 / 0])
    with pytest.raises(ZeroDivisionError):
        fresh(SEEDS=2)
    assert list(tmp_path.iterdir()) == [] and shelf.SEEDS == 6


def test_results_that_nobody_asks_for_are_deleted_and_used_results_stay(shelf, tmp_path):
    for seeds in (2, 6):
        fresh(SEEDS=seeds)
    for file in tmp_path.iterdir():
        os.utime(file, (0, 0))
    fresh(SEEDS=2)
    files.forget(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    fresh(SEEDS=2)
    assert len(shelf.ran) == 2
