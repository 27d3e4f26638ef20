"""The tests run the installed package; here it is made sure that it is the one in this tree."""

import filecmp
import signal
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def out_of_date() -> str | None:
    """A Python file of the package that .venv has not, or has differently."""
    installed = Path(sysconfig.get_path("platlib")) / "nanscope"
    package = ROOT / "python/nanscope"
    copies = {source: installed / source.relative_to(package) for source in package.rglob("*.py")}
    for source in (ROOT / "adapters/torch/ops").glob("*.py"):
        copies[source] = installed / "telling" / source.name
    for source, copy in sorted(copies.items()):
        if not copy.exists() or not filecmp.cmp(source, copy, shallow=False):
            return str(source.relative_to(ROOT))
    return None


def pytest_configure() -> None:
    # A shell starts a background job with SIGINT ignored, which every program under test would
    # inherit: `raise KeyboardInterrupt` would end it in another way, and an interrupt would not.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session: pytest.Session) -> None:
    stale = out_of_date()
    if stale:
        raise pytest.UsageError(f"The installed nanscope has another {stale}: make build")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # The longest first, so that no worker is left alone with them at the end.
    items.sort(key=lambda item: item.path.name != "test_packaging.py")


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def nanscope_command() -> Path:
    """The installed tool."""
    return Path(sysconfig.get_path("scripts")) / "nanscope"
