"""What was asked for, as plain values: a spawned child is given them too."""

from __future__ import annotations

import os

from nanscope import _core
from nanscope.run import project
from nanscope.telling.stack import START_DIRECTORY


class Settings:
    """How to watch this process.

    on_error   "stop", "go_on" or "raise"
    output     the capture that was named with -o, or ""
    folder     where captures go; "" if the working directory is gone
    stem       how the names of captures begin: nanscope-train
    mode       "exact" or "sentinel"; then a snapshot_every so many seconds, 0: as is best
    eager      torch.compile is switched off
    bad_batch  the folder of --bad-batch; replay: that which `nanscope replay` meets again
    notify     who is told of an error, besides the terminal
    allow      FILE or FILE:LINE, whose non-finite values are meant
    news       where a child announces to the run that it found an error; "" without children
    follow     whether other Pythons that the program starts are watched
    followed   the name under which the program that started this one knows it; "" otherwise
    handed     where processes of the run tell of bad values that they hand to each other
    """

    def __init__(self, **values: object) -> None:
        self.argv: list[str] = []
        self.main_file: str | None = None
        self.on_error = "stop"
        self.mode = "exact"
        self.snapshot_every = 0.0
        self.strict = False
        self.pdb = False
        self.eager = False
        self.steps = 0
        self.layer = ""
        self.file = ""
        self.allow: list[str] = []
        self.notify: list[str] = []
        self.output = ""
        self.force = False
        self.json = ""
        self.html = ""
        self.bad_batch = ""
        self.replay = ""
        self.quiet = False
        self.verbose = False
        self.color = False
        self.folder = START_DIRECTORY or ""
        self.stem = "nanscope"
        self.news = ""
        self.handed = ""
        self.is_child = False
        self.stop_raised = False  # in this child: it ends with 0 no more, whatever catches that
        self.follow = True
        self.followed = ""
        self.__dict__.update(values)

    @classmethod
    def of(cls, request) -> Settings:
        """Reads a RunRequest, and pyproject.toml where that says nothing.

        Paths are made absolute: the program may go elsewhere.
        """
        kind, target = request.kind, request.target
        table = project.defaults()
        strict = request.strict or (table.get("strict", False) and not request.keep_going)
        raises = request.raise_ or strict or request.pdb
        raises = raises or (table.get("raise", False) and not request.keep_going)
        keeps_going = request.keep_going or (table.get("keep-going", False) and not raises)
        sentinel = request.sentinel
        if not request.mode_given and not strict:
            sentinel = table.get("mode") == "sentinel"
        json = table.get("json") if request.json is None else request.json
        return cls(
            argv=[*{"module": ["-m"], "code": ["-c"]}.get(kind, []), target, *request.args],
            main_file=target if kind == "script" else None,
            on_error="raise" if raises else "go_on" if keeps_going else "stop",
            mode="sentinel" if sentinel else "exact",
            snapshot_every=request.snapshot_every_s or float(table.get("snapshot-every", 0)),
            strict=strict,
            pdb=request.pdb,
            eager=request.eager,
            steps=request.steps or table.get("steps", 0),
            layer=request.layer or table.get("layer", ""),
            file=_from_here(request.file or table.get("file", "")),
            allow=[*request.allow, *table.get("allow", [])],
            notify=_places(request.notify),
            output=_from_here(request.output or ""),
            force=request.force,
            json=json if json in (None, "-") else _from_here(json),
            html=_from_here(request.html or table.get("html", "")),
            follow=not request.no_follow,
            bad_batch=_from_here(request.bad_batch or ""),
            quiet=request.quiet,
            verbose=request.verbose,
            color=request.color,
            stem=_core.default_capture_name(request, 0).removesuffix(".0.nsc"),
        )

    @property
    def is_spawned(self) -> bool:
        """A child of fork or multiprocessing, which prints what ends its target."""
        return self.is_child and not self.followed

    def for_child(self) -> dict[str, object]:
        outputs = {"json": "", "html": "", "notify": [], "bad_batch": "", "replay": ""}
        new = {"is_child": True, "stop_raised": False, "force": False}
        return {**vars(self), **new, **outputs}

    def be_of_a_replay(self) -> None:
        """A replay stops at the first error, and speaks to nobody but the run."""
        self.on_error = "stop"
        self.pdb = self.force = False
        self.output = self.json = self.html = self.news = ""
        self.notify = []

    def capture_path(self) -> str:
        """Where this process would write; the name of a child's has its own number."""
        if self.output and not self.is_child:
            return self.output
        name = os.path.join(self.folder, self.stem)
        if self.output:
            name = self.output.removesuffix(".nsc")
        return _unused(f"{name}.{os.getpid()}")


def _unused(name: str) -> str:
    """A process may have the number of an older one, whose capture is still there."""
    path, count = f"{name}.nsc", 1
    while os.path.lexists(path):
        count += 1
        path = f"{name}.{count}.nsc"
    return path


def _places(notify: list[str]) -> list[str]:
    """Those of --notify; a folder is made absolute."""
    parts = [place.partition(":") for place in notify]
    return [
        f"{name}:{_from_here(rest)}" if name == "tensorboard" else name + colon + rest
        for name, colon, rest in parts
    ]


def _from_here(path: str) -> str:
    return os.path.join(START_DIRECTORY or "", path) if path else path
