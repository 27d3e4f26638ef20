"""A patch that may be the right one, before it is tried."""

from __future__ import annotations

from dataclasses import dataclass, field

from nanscope.fix.patch.source_file import Edit


@dataclass
class Candidate:
    """`edits` are of the file that failed, or of others of the user's.

    compare    the expression that failed and its patched form, where the edits do not show them
               (they lie in several statements)
    comments   insertions of the comments that the edits cut away
    fires      insertions that count how often a guard was needed
    widens     the result may have a wider type: a cast was taken away
    is_value   False: the original has no value worth comparing (memory never written)
    losses_must_be_kept  only healthy losses that stay the same can speak for it
    alters     what it changes of healthy values, and is verified for: "n is divided by, not n - 1"
    count      text of an operand that must be seen to count, in the run: whole numbers only
    equal      the same in exact arithmetic: what it gives where the original failed is right, if
               it is much larger than healthy values, too
    hides      it puts a number in the place of what is not finite: it can never be verified
    unmeasured  it runs as it is: a measuring call would change what the compiler fuses
    scales_loss  it is a factor of the loss that is patched: how the loss grows means nothing
    """

    id: str
    explanation: str
    edits: list[Edit]
    changes_training: bool = False
    workaround: bool = False
    widens: bool = False
    is_value: bool = True
    losses_must_be_kept: bool = False
    scales_loss: bool = False
    unmeasured: bool = False
    alters: str = ""
    equal: bool = False
    hides: bool = False
    count: str = ""
    compare: Comparison | None = None
    comments: list[Edit] = field(default_factory=list)
    fires: list[Edit] = field(default_factory=list)


@dataclass
class Comparison:
    """Where (characters of the original file) and what to compare.

    alone   it stands for all of the patch: no other edit is made where it is measured
    """

    path: str
    begin: int
    end: int
    original: str
    patched: str
    alone: bool = False
