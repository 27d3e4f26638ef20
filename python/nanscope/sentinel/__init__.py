"""`--mode sentinel`: a look once a step, and the exact watch over a snapshot when one goes bad.

observer.py     the observer of this mode, for a run (run.py) and for a block (block.py)
looks.py        what is done when a look finds something, and when the program ends
snapshots.py    copies of this process that wait: made by a fork, woken or killed
obstacles.py    why a copy would be of no use here
connections.py  whom the program talks to, as a copy could not
replay.py       what a woken copy does: mute, watched exactly, up to the moment of the alarm
files.py        its files: as they were, and written to nobody
answers.py      what it sends back, and how sure that is
"""
