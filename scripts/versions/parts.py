"""What a cell of the matrix runs, in this order: the telling parts first, the long one last."""

# The words for pytest. The self-test is `nanscope doctor`'s. Custom ops: from 2.14 on torch leads
# those of Python past its dispatcher.
PARTS: dict[str, list[str]] = {
    "self-test": [],
    "births": ["tests/watch/test_births.py", "tests/watch/test_holes.py"],
    "proofs": ["tests/watch/test_proved_ops.py", "tests/watch/test_bounded_ops.py"],
    "custom ops": ["tests/watch/test_holes.py", "-k", "nobody and late_ops", "-m", ""],
    "cases": ["tests/watch/test_cases.py", "-k", "test_case"],
    "innocent": ["tests/watch/test_cases.py", "-k", "test_innocent"],
    "fix": ["tests/fix/test_verified.py"],
    "package": ["tests/api", "tests/cli/test_readme.py", "tests/cli/test_run.py"],
    "op_db": ["tests/watch/test_op_db.py", "-k", "same_bits and float32"],
}
