import pytest

from tests import passed


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setattr(passed, "PASSED", tmp_path / "passed")
    monkeypatch.delenv("THOROUGH", raising=False)
    file = tmp_path / "golden.json"
    file.write_text("1", encoding="utf-8")
    return file


def ran(file, words="a test", modules=("sim.estimators.kl",), fails=False):
    """Whether the test was run."""
    try:
        with passed.once(words, modules, [file]):
            if fails:
                raise AssertionError
    except AssertionError:
        return True
    except pytest.skip.Exception:
        return False
    return True


def test_what_has_passed_is_left_out_until_something_changes(data):
    assert [ran(data), ran(data)] == [True, False]
    assert ran(data, "another test") and ran(data, modules=["sim.worlds.bandit"])
    data.write_text("2", encoding="utf-8")
    assert [ran(data), ran(data)] == [True, False]


def test_what_has_failed_runs_again(data):
    assert [ran(data, fails=True), ran(data), ran(data)] == [True, True, False]


def test_all_of_it_runs_where_that_is_asked_for(data, monkeypatch):
    ran(data)
    monkeypatch.setenv("THOROUGH", "1")
    assert ran(data)
