"""`rlpt COMMAND …`, or `python -m rlpt COMMAND …`: six commands under one name."""

import sys
from difflib import get_close_matches
from importlib import import_module

COMMANDS = {  # {name: (module, what it does)}
    "plan": ("rlpt.plan", "check whether a run of your own model fits, how long a step takes, what would shorten it"),
    "calibrate": ("rlpt.calibrate", "measure how much of its data sheet your GPU reaches, for that plan; needs torch"),
    "doctor": ("rlpt.doctor.__main__", "read a log from TRL, verl or OpenRLHF: facts, events, signs of trouble"),
    "run": ("rlpt.run", "train a tiny model with one algorithm file, and watch its pass rate"),
    "framework": ("rlpt.framework", "train it through the six roles, and watch the seven stages and one completion"),
    "pipeline": ("rlpt.pipeline", "post-train a tiny model, stage by stage"),
}


def help_text(program):
    listed = "\n".join(f"  {name:10} {does}" for name, (_, does) in COMMANDS.items())
    return f"usage: {program} COMMAND …\n\n{listed}\n\n{program} COMMAND --help lists the options of a command.\n"


def main(words=None, program="rlpt"):
    """Passes the other words to the command that the first one names, and returns its status."""
    for output in (sys.stdout, sys.stderr):
        output.reconfigure(errors="replace")  # a terminal that lacks a character shows a question mark
    command, *others = (sys.argv[1:] if words is None else words) or [""]
    if command in ("-h", "--help"):
        sys.stdout.write(help_text(program))
        return 0
    if command not in COMMANDS:
        near = get_close_matches(command, COMMANDS, 1)
        guess = f"did you mean {near[0]}?" if near else f"the commands are {', '.join(COMMANDS)}"
        sys.stderr.write(
            f"{program}: {f'there is no command {command[:40]}' if command else 'a command is missing'}; {guess}\n"
        )
        return 2
    return import_module(COMMANDS[command][0]).main(others, f"{program} {command}")


if __name__ == "__main__":
    sys.exit(main(program="python -m rlpt"))
