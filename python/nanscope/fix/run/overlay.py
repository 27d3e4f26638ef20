"""Shows the program patched text where its own files stand; the files are not touched."""

from __future__ import annotations

import importlib.machinery
import os

from nanscope.telling.source import keeper


def write_over(texts: dict[str, bytes]) -> None:
    """Writes the texts into the files, for processes that the program spawns. Only where what is
    written is thrown away.
    """
    for path, data in texts.items():
        try:
            later = os.stat(path).st_mtime_ns + 2_000_000_000  # no .pyc is of this text
            with open(os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW), "wb") as file:
                file.write(data)
            os.utime(path, ns=(later, later))
        except OSError:
            pass  # may not be written: this process has the text from its imports


class Overlay:
    """Gives imports, and whoever reads the main file, other text than that on disk."""

    def __init__(self, texts: dict[str, bytes]) -> None:
        self.texts = {os.path.realpath(path): data for path, data in texts.items()}

    def get(self, path: str) -> bytes | None:
        return self.texts.get(os.path.realpath(path)) if self.texts else None

    def install(self) -> None:
        loader = importlib.machinery.SourceFileLoader
        loader.get_data = self._get_data(loader.get_data)
        loader.path_stats = self._path_stats(loader.path_stats)

    def _get_data(self, original):
        def get_data(this, path):
            data = self.get(path)
            if data is None:
                return original(this, path)
            keeper.compiled_from(path, data)
            return data

        return get_data

    def _path_stats(self, original):
        def path_stats(this, path):
            if self.get(path) is not None:
                raise OSError  # no .pyc is of this text, and none is to be made of it
            return original(this, path)

        return path_stats
