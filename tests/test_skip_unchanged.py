"""Which expensive tests a push runs: those whose files have changed, and of each family no more than a few."""

import subprocess
from types import SimpleNamespace

import pytest

from tests import skip_unchanged

ROOT = skip_unchanged.ROOT


class Item:
    """A test of tests/sim/estimators/test_kl.py, as pytest has it."""

    def __init__(self, *modules, name="test", marked=True, **options):
        self.marks = [pytest.mark.when_changed(*modules, **options).mark] if marked else []
        self.nodeid, self.path = name, ROOT / "tests" / "sim" / "estimators" / "test_kl.py"

    def iter_markers(self, name):
        return [mark for mark in self.marks if mark.name == name]

    def add_marker(self, mark):
        self.marks.append(mark.mark)

    @property
    def skipped(self):
        return next((mark.kwargs["reason"] for mark in self.iter_markers("skip")), None)


@pytest.fixture
def changed(monkeypatch):
    """A function that says which files have changed, and selects among items."""
    monkeypatch.delenv("NIGHTLY", raising=False)

    def select(files, *items):
        files_and_base = ({ROOT / file for file in files}, "0123456789ab") if files is not None else (set(), None)
        monkeypatch.setattr(skip_unchanged, "changes", lambda: files_and_base)
        skip_unchanged.select(items)
        return [not item.skipped for item in items]

    return select


@pytest.mark.parametrize(
    ("file", "runs"),
    [
        ("sim/estimators/kl.py", True),  # its own file imports it
        ("tests/sim/estimators/test_kl.py", True),
        ("sim/worlds/modsum.py", True),  # the widget that is named imports it
        ("lessons/10-ppo.md", True),
        ("lessons/11-grpo.md", False),
        ("sim/cluster/fabric.py", False),
        ("README.md", False),
    ],
)
def test_a_test_runs_if_one_of_its_dependencies_has_changed(changed, file, runs):
    assert changed([file], Item("widgets.ppo.widget", files=["lessons/10-ppo.md"]), Item(marked=False)) == [runs, True]


def test_all_tests_run_at_night(changed, monkeypatch):
    monkeypatch.setenv("NIGHTLY", "1")
    assert changed([], Item()) == [True]


def test_a_skip_names_the_commit_and_the_night(changed):
    item = Item()
    changed([], item)
    assert "has changed since 0123456789ab" in item.skipped and "every night" in item.skipped
    item = Item()
    changed(None, item)
    assert "git does not say" in item.skipped and "every night" in item.skipped


TRAINING = [
    "widgets.ppo.widget",
    "widgets.grpo.widget",
    "widgets.rloo.widget",
    "widgets.dapo.widget",
    "widgets.dr_grpo.widget",
    "widgets.reinforce.widget",
]


def test_only_a_few_tests_of_a_family_run_when_a_change_reaches_many(changed):
    items = [Item(name) for name in TRAINING]
    another_family = [Item(name, family="another") for name in TRAINING[:2]]
    ran = changed(["sim/worlds/modsum.py"], *items, *another_family)
    assert sum(ran[:6]) == skip_unchanged.MOST and ran[6:] == [True, True]
    assert "the change reaches 6 of tests/sim/estimators" in next(item.skipped for item in items if item.skipped)
    again = [Item(name) for name in reversed(TRAINING)]
    assert changed(["sim/worlds/modsum.py"], *again)[::-1] == ran[:6]


def test_tests_of_a_changed_module_run_before_tests_of_its_importers(changed):
    items = [Item(name) for name in TRAINING]
    for i, name in enumerate(TRAINING):
        ran = changed(["sim/worlds/modsum.py", f"{name.replace('.', '/')}.py"], *(Item(name) for name in TRAINING))
        assert ran[i] and sum(ran) == skip_unchanged.MOST
    assert not any(changed(["sim/cluster/fabric.py"], *items))


def test_a_dependency_of_few_family_members_counts_before_one_of_all(changed):
    for file, name in (
        ("completion_ratio", "widgets.rloo.widget"),
        ("equal_cost", "widgets.dapo.widget"),
        ("length_bias", "widgets.dr_grpo.widget"),
    ):
        ran = changed(["sim/worlds/modsum.py", f"sim/estimators/{file}.py"], *(Item(name) for name in TRAINING))
        assert ran[TRAINING.index(name)] and sum(ran) == skip_unchanged.MOST


def test_a_test_may_depend_on_named_files_alone(changed):
    only = dict(files=["mkdocs.yml"], imports=False)
    assert changed(["sim/estimators/kl.py"], Item(**only)) == [False]
    assert changed(["mkdocs.yml"], Item(**only)) == [True]
    assert changed(["tests/sim/estimators/test_kl.py"], Item(**only)) == [True]


def test_tests_with_the_same_dependencies_run_together(changed):
    items = [Item(name, name=str(i)) for name in TRAINING for i in range(3)]
    ran = changed(["sim/worlds/modsum.py"], *items)
    assert sum(ran) == 3 * skip_unchanged.MOST
    assert all(len(set(ran[i : i + 3])) == 1 for i in range(0, len(ran), 3))


def test_expensive_tests_of_a_module_depend_on_that_module():
    """By what they import, or by naming it where they start it as a program."""
    blind = []
    for file in [*(ROOT / "tests" / "sim").rglob("test_*.py"), *(ROOT / "tests" / "widgets").glob("test_*.py")]:
        own, text = file.relative_to(ROOT / "tests").with_suffix(""), file.read_text(encoding="utf-8")
        folder, name = ".".join(own.parts[:-1]), own.name.removeprefix("test_")
        files = {
            module: skip_unchanged.inputs.file_of(module) for module in (f"{folder}.{name}", f"{folder}.__{name}__")
        }
        tested = [module for module, path in files.items() if path and path.name != "__init__.py"]
        if not tested or ".when_changed" not in text:
            continue
        closure = skip_unchanged.inputs.closure(".".join(file.relative_to(ROOT).with_suffix("").parts))
        if files[tested[0]] not in closure and f'"{tested[0]}"' not in text:
            blind.append(f"{file.relative_to(ROOT).as_posix()} is not run when {tested[0]} changes")
    assert not blind, "\n".join(blind)


# --- git


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository of three commits, whose second is that of origin/main; `git` runs in it."""
    for name in ("BASE", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)

    def git(*words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *identity, *words], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    for i in range(3):
        (tmp_path / f"{i}.py").write_text(str(i), encoding="utf-8")
        git("add", ".")
        git("commit", "-q", "-m", str(i))
        if i == 1:
            git("update-ref", "refs/remotes/origin/main", "HEAD")
    return SimpleNamespace(git=git, path=tmp_path)


def differ(root):
    skip_unchanged.changes.cache_clear()
    files, since = skip_unchanged.changes(root)
    skip_unchanged.changes.cache_clear()
    return {file.name for file in files}, since


def test_changes_are_counted_from_where_the_branch_left_main(repository):
    assert differ(repository.path) == ({"2.py"}, repository.git("rev-parse", "HEAD~1")[:12])


def test_changes_on_main_are_those_of_the_last_commit(repository):
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert differ(repository.path)[0] == {"2.py"}
    repository.git("update-ref", "-d", "refs/remotes/origin/main")
    assert differ(repository.path)[0] == {"2.py"}


def test_an_explicit_base_commit_overrides_the_default(repository, monkeypatch):
    monkeypatch.setenv("BASE", "HEAD~2")
    assert differ(repository.path)[0] == {"1.py", "2.py"}
    monkeypatch.setenv("BASE", "0" * 40)  # what a workflow is told at the first push of a branch
    assert differ(repository.path) == (set(), None)


def test_uncommitted_files_count_as_changed_and_ignored_files_do_not(repository):
    (repository.path / ".gitignore").write_text("_cache\n", encoding="utf-8")
    (repository.path / "_cache").write_text("", encoding="utf-8")
    (repository.path / "0.py").write_text("changed", encoding="utf-8")
    (repository.path / "new.py").write_text("", encoding="utf-8")
    (repository.path / "1.py").unlink()
    assert differ(repository.path)[0] == {".gitignore", "0.py", "1.py", "2.py", "new.py"}


def test_a_single_commit_or_a_missing_repository_means_no_changes(repository, tmp_path):
    repository.git("update-ref", "-d", "refs/remotes/origin/main")
    repository.git("checkout", "-q", "--orphan", "alone")
    repository.git("commit", "-q", "-m", "alone")
    assert differ(repository.path) == (set(), None)
    assert differ(tmp_path / "2.py") == (set(), None)


# --- what has passed


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(skip_unchanged, "PASSED", tmp_path / "passed")
    file = tmp_path / "golden.json"
    file.write_text("1", encoding="utf-8")
    return file


def ran(*modules, **options):
    """Whether a test that passes was run."""
    item = Item(*modules, **options)
    try:
        skip_unchanged.skip_if_passed(item)
    except pytest.skip.Exception:
        return False
    skip_unchanged.passed(item)
    return True


def test_a_passed_test_is_skipped_until_a_dependency_changes(data):
    assert [ran(files=[data]), ran(files=[data])] == [True, False]
    assert ran(files=[data], name="another test") and ran("sim.worlds.bandit", files=[data])
    data.write_text("2", encoding="utf-8")
    assert [ran(files=[data]), ran(files=[data])] == [True, False]


def test_a_test_without_the_marker_always_runs(data):
    assert [ran(marked=False), ran(marked=False)] == [True, True]


def test_another_start_of_the_policy_invalidates_passed_tests(data, monkeypatch):
    assert ran()
    monkeypatch.setattr(skip_unchanged.results, "variant", "another start")
    assert ran()
