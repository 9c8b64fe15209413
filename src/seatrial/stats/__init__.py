"""What numbers can say: intervals, pass^k, evidence per case, paired suite tests, the sequential rule.

Everything is a pure function of counts. scipy is imported where it is used, because most commands never
need it and its import costs more than theirs. Reference values are in `tests/unit/test_stats_*`.
"""
