"""Rubrics: several criteria, a pass rule, replies to them, and the decision over several judges.

Pure values, which ask nobody:
criterion.py    one criterion and its scale             rubric.py       several of them and a pass rule
passrule.py     the language of pass rules              rule_parser.py  its grammar      rule_truth.py  its evaluation
reply.py        a judge's reply: schema and reading     outcome.py      scores of several judges -> one decision
library.py      rubrics by name or from a file          seeds.py        results in the JSON shapes of the seeds

What asks: asking.py (`RubricMethod`), making.py (the keywords of a rubric jury).
"""
