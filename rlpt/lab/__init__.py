"""The commands of the Measurement Lab: score completions, test a scorer, compare two runs, write the logs of its pages.

`__main__.py` names them. `records.py` reads examples and completions, `scorers.py` finds and calls a scorer, and
`runs.py` writes a run into a folder and reads it again.
"""
