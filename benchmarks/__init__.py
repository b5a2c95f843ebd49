"""What `jury` costs beside what it calls: CPU time, as ratios of runs made side by side. Not part of the package.

Nothing here is a test: a shared machine moves every timing. `tests/test_benchmarks.py` only shows that they run.
"""
