"""Found a workspace: the store with its hub, remotes and keys, and the working tree beside it."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from api.settings import Settings
from api.workspace import PUBLIC_KEY, STORE_POINTER, Workspace
from cards.errors import WorkspaceError
from curation.dvc import Dvc, write_config, write_local
from curation.git import Git, clone
from curation.signature import make_key, print_public
from curation.template import template

PUBLIC_URL = "http://127.0.0.1:8400/dvc"
"""Where the public door will serve the public remote; publishers override it by a path."""


@dataclass(frozen=True)
class Founding:
    """What a workspace is founded with."""

    root: Path
    settings: Settings
    now: datetime
    public_url: str = PUBLIC_URL

    @property
    def store(self) -> Path:
        """Where the store will lie."""
        return self.settings.store or self.root.with_name(f"{self.root.name}.store")


def found(founding: Founding) -> bool:
    """Make the workspace; return False when it is there already and nothing was done.

    An interrupted founding is finished by the next one: store and tree each appear in one step.

    Raises:
        WorkspaceError: when the folder holds something else.
    """
    root = founding.root
    if (root / STORE_POINTER).is_file() and (root / ".git").exists():
        return False
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        message = f"{root} is not empty and is not a workspace."
        raise WorkspaceError(message, "Name a folder that does not exist yet.")
    if not founding.store.exists():
        _make_store(founding)
    elif not (founding.store / "hub.git").is_dir():
        message = f"{founding.store} exists and is not a store."
        raise WorkspaceError(message, "Move it away, or set ALMANAC_STORE.")
    _make_tree(founding)
    return True


@contextmanager
def _in_one_step(target: Path) -> Iterator[Path]:
    """Yield a folder that becomes ``target`` when the block ends well, and vanishes when it does not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        yield making
        making.rename(target)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _make_store(founding: Founding) -> None:
    environment = dict(os.environ)
    with _in_one_step(founding.store) as store:
        for name in ("public", "calls", "arrivals", "cuts", "work", "releases"):
            (store / name).mkdir()
        (store / "sealed").mkdir(mode=0o700)
        key = os.open(store / "sealed" / "root.key", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(key, "w", encoding="ascii") as stream:
            stream.write(f"{secrets.token_hex(32)}\n")
        store.chmod(0o700)
        seed = store / "work" / "seed"
        seed.mkdir()
        _plant(founding, seed, environment)
        hub = Git(store, environment)
        hub.run("init", "--quiet", "--bare", "-b", "main", "hub.git")
        bare = Git(store / "hub.git", environment)
        bare.run("config", "receive.denyDeletes", "true")
        bare.run("config", "receive.denyNonFastForwards", "true")
        Git(seed, environment).run("push", "--quiet", str(store / "hub.git"), "main")
        shutil.rmtree(seed)


def _plant(founding: Founding, seed: Path, environment: dict[str, str]) -> None:
    """Make the first commit."""
    git = Git(seed, environment)
    git.run("init", "--quiet", "-b", "main")
    Dvc(seed, environment).run("init", "--quiet")
    write_config(seed, founding.public_url)
    public = make_key(founding.settings.config_home)
    for name, data in {**template(), PUBLIC_KEY: print_public(public).encode()}.items():
        path = seed / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    git.run("add", "--all")
    git.commit("Found the workspace", founding.now.isoformat())


def _make_tree(founding: Founding) -> None:
    root, store = founding.root, founding.store
    if root.exists():
        root.rmdir()
    with _in_one_step(root) as making:
        relative = Path(os.path.relpath(store, root))
        tree = clone(str(store / "hub.git"), making / "tree", dict(os.environ))
        tree.run("remote", "set-url", "origin", str(relative / "hub.git"))
        write_local(tree.folder, store)
        pointer = tree.folder / STORE_POINTER
        pointer.parent.mkdir()
        pointer.write_text(f"{relative}\n", encoding="utf-8")
        for path in tree.folder.iterdir():
            path.rename(making / path.name)
        tree.folder.rmdir()
        making.chmod(0o755)
    Workspace.find(root, founding.settings)
