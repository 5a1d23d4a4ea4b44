"""The training scripts for TRL that the book gives away, run with --tiny, and what the doctor says of their logs.

`python bench/training_scripts.py FOLDER [NAME…]`, in an environment with trl 1.16.0 and torch besides numpy: writes
FOLDER/run/NAME.py, runs each on a CPU without a network, and prints the rise of its reward, the doctor's verdict and
how many completions were kept. Status 1 where a script fails, its reward falls, or the doctor finds an alarm or a sign.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from rlpt import doctor, logs, rollouts  # noqa: E402, ROOT has to be on the path
from rlpt.doctor import words  # noqa: E402
from tools.pages import scripts  # noqa: E402


def rise(state):
    """(mean reward of the first tenth of a trainer_state.json's batches, of the last tenth)."""
    rewards = [row["reward"] for row in json.loads(state)["log_history"] if "reward" in row]
    tenth = len(rewards) // 10
    return fmean(rewards[:tenth]), fmean(rewards[-tenth:])


def made(script, out):
    """The text of the trainer_state.json that a script leaves in a folder."""
    offline = os.environ | dict(HF_HUB_OFFLINE="1")
    subprocess.run([sys.executable, script, "--tiny", "--out", out], check=True, env=offline, stdout=subprocess.DEVNULL)
    return (out / "trainer_state.json").read_text(encoding="utf-8")


def main(folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    scripts.write(folder, "https://example.org/")
    failed = []
    for script in sorted((folder / "run").glob("*-trl.py")):
        name = script.stem
        if names and name not in names:
            continue
        began = time.time()
        try:
            state = made(script, folder / name)
        except subprocess.CalledProcessError as fault:
            failed.append(name)
            print(f"{name}: status {fault.returncode}", flush=True)
            continue
        before, after = rise(state)
        report = doctor.report(logs.read([("trainer_state.json", [state.encode()])]))
        if report.status or after < before:
            failed.append(name)
        took = f"{time.time() - began:.0f} s"
        kept = rollouts.read([(file.name, [file.read_bytes()]) for file in (folder / name / "completions").iterdir()])
        said = f"{words.summary(report)} Completions kept: {len(kept.rollouts):,}."
        print(f"{name}: {took}, reward {before:.2f} to {after:.2f}: {said}", flush=True)
    print(f"{len(failed)} to be looked at: {', '.join(failed)}" if failed else "nothing was found in any log")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
