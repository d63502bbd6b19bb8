"""`python -m mebnb` is `python -m mebnb.cli`, the command line."""

import runpy

runpy.run_module("mebnb.cli", run_name="__main__", alter_sys=True)
