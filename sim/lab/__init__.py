"""The Measurement Lab: forty prompts, 320 completions that never change, and what can be learned from them about the
instrument that scores them.
"""
