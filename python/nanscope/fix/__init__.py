"""`nanscope fix`: a patch of the source for a finding, proved by running the program with it.

    propose.py   finding and source -> candidates, best first (rewrites/: one file per family)
    runs.py      runs the program in children (child.py), and says what they may cost
    messages.py  what runs.py and a child write to each other
    run_logger.py  in the child: losses and steps
    overlay.py   the patched text is what the child imports; the files are not touched
    sandbox.py   what a child writes is thrown away
    probe.py     in the child: original and patched expression side by side
    verify.py    what the runs showed -> verified, failed or inconclusive, with the reason
    apply.py     writes the patch into the user's files

LibCST is imported here and nowhere else.
"""
