"""Rubrics: several criteria, a pass rule, replies to them, and the decision over several judges.

Pure values (`criterion`, `rubric`, `passrule` with its language in `rule_parser` and `rule_truth`, `reply`, `outcome`):
they ask nobody.
"""
