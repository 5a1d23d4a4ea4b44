"""`pip install .` in an environment with numpy alone gives the command rlpt, which works from any folder."""

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
LOG = "\n".join(json.dumps({"step": step, "reward": 0.5, "reward_std": 0.5}) for step in range(30))


def ran(*words, cwd, status=0):
    """(standard output, standard error) of a program that sees nothing of this checkout."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**variables, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The package as pip makes it, by the pinned backend that the tests' own environment has."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet")
    ran(sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", folder, ROOT, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def numpy_alone(wheel, tmp_path_factory):
    """An environment with the package and a copy of this environment's numpy, and nothing else."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, symlinks=os.name != "nt")
    python = place / SCRIPTS / "python"
    packages = Path(ran(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=place)[0].strip())
    for folder in (Path(np.__file__).parent, Path(np.__file__).parents[1] / "numpy.libs"):
        if folder.exists():
            shutil.copytree(folder, packages / folder.name, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    options = ("--no-deps", "--no-index", "--quiet", "--disable-pip-version-check")
    ran(sys.executable, "-m", "pip", "--python", python, "install", *options, wheel, cwd=place)
    installed = {path.name.split("-")[0] for path in packages.iterdir()}
    assert installed <= {"numpy", "numpy.libs", "rlpt", "sim", "rl_post_training", "__pycache__"}
    return place / SCRIPTS


def each_command_works(scripts, folder):
    """Run from a folder that is not this one, with a log of a trainer in it."""
    rlpt = scripts / "rlpt"
    (folder / "log.jsonl").write_text(LOG, encoding="utf-8")
    small = {
        "plan": ("--config", "llama3.1-8b", "--gpus", "16"),
        "doctor": ("log.jsonl",),
        "run": ("grpo", "--task", "add", "--updates", "1", "--log", "new.jsonl", "--checkpoint", "run.ckpt"),
        "framework": ("--policy", "transformer", "--updates", "1", "--eval-every", "0"),
        "pipeline": ("--path", "base,cot", "--cot-steps", "2", "--eval", "8x16"),
        "lab": ("eval", "--samples", "0"),
    }
    alarmed = {"doctor": 1}  # a reward that never changes
    shown = {
        command: ran(rlpt, command, *words, cwd=folder, status=alarmed.get(command, 0))[0]
        for command, words in small.items()
    }
    assert shown["plan"].startswith("Llama-3.1-8B on 16 H100")
    assert "! The reward is 0.5 in every batch." in shown["doctor"]
    assert "grpo on add: pass rate 0.3" in shown["run"]
    assert "policy transformer" in shown["framework"]
    assert [line.split()[0] for line in shown["pipeline"].splitlines()] == ["stage", "base", "cot"]
    assert {path.name for path in folder.iterdir()} == {"log.jsonl", "new.jsonl", "run.ckpt", "runs"}
    assert "17 of 30 completions" in shown["lab"]
    nothing, wrong = ran(rlpt, "calibrate", cwd=folder, status=2)
    assert not nothing and wrong.startswith("rlpt calibrate: torch is not installed here") and wrong.count("\n") == 1
    assert ran(rlpt, "plan", "--gpus", "0", cwd=folder, status=2) == (
        *("", "rlpt plan: argument --gpus: must be a whole number from 1 to 8,192, not 0\n"),
    )


def test_the_package_holds_all_of_rlpt_and_sim_and_nothing_else(wheel):
    files = (path for room in ("rlpt", "sim") for path in (ROOT / room).rglob("*") if path.is_file())
    sources = {path.relative_to(ROOT).as_posix() for path in files}
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == {name for name in sources if "__pycache__" not in name}


@pytest.mark.slow
def test_every_command_works_from_any_folder_with_numpy_alone(numpy_alone, tmp_path):
    each_command_works(numpy_alone, tmp_path)


@pytest.mark.nightly
def test_every_command_works_after_pip_has_fetched_the_backend_and_numpy(tmp_path_factory):
    place, folder = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("elsewhere")
    venv.create(place, symlinks=os.name != "nt", with_pip=True)
    python = place / SCRIPTS / "python"
    ran(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ROOT, cwd=folder)
    ran(python, "-m", "pip", "check", cwd=folder)
    each_command_works(place / SCRIPTS, folder)
