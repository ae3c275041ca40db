"""Tell whether other users could have put code into a folder, or into a file of it.

Reading machine code or a pickle means trusting it. Whoever owns a folder, or may write to it, can rename what is in it
and put his own in its place. So a folder is trusted only if all folders above it are, and all folders that a symbolic
link on the way leads through. Windows protects the folders of users itself.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

MAX_LINKS = 40  # as Linux follows on one path
WRITABLE = stat.S_IWGRP | stat.S_IWOTH
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class ForeignFileError(PermissionError):
    """A file that other users could have written, or that is no regular file."""


def distrust_reason(folder: Path) -> str | None:
    """Why code in `folder` cannot be trusted, or None.

    A folder that does not exist is judged by those above it.
    """
    if not hasattr(os, "geteuid"):
        return None
    place, left, n_links = Path("/"), _names(Path.cwd() / folder), 0
    reason = _reason_of_folder(place, place.lstat(), is_last=not left)
    while left and reason is None:
        name = left.pop()
        if name == os.pardir:
            place = place.parent
            continue
        entry = place / name
        try:
            facts = entry.lstat()
        except FileNotFoundError:
            return None
        if stat.S_ISLNK(facts.st_mode):
            n_links += 1
            if n_links > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(folder))
            reason = _reason_of_owner(entry, facts)
            target = entry.readlink()
            place = Path("/") if target.is_absolute() else place
            left += _names(target)
        else:
            place = entry
            reason = _reason_of_folder(place, facts, is_last=not left)
    return reason


@contextlib.contextmanager
def opened(file: Path) -> Iterator[int]:
    """Open `file` of a trusted folder for reading; raise `ForeignFileError` if another user could have written it.

    The open file is asked, not its path, so that nobody can change it in between. To load a library with ctypes, load
    it by its path within the block: in a trusted folder the path leads to this file.
    """
    try:
        handle = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0) | NO_LINK)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise ForeignFileError(errno.EPERM, f"{file} is a symbolic link", str(file)) from error
    try:
        reason = _reason_of_file(file, os.fstat(handle)) if hasattr(os, "geteuid") else None
        if reason is not None:
            raise ForeignFileError(errno.EPERM, reason, str(file))
        yield handle
    finally:
        os.close(handle)


def read_trusted(file: Path) -> bytes:
    """Content of `file` of a trusted folder; raise `ForeignFileError` if another user could have written it."""
    with opened(file) as handle, open(handle, "rb", closefd=False) as stream:
        return stream.read()


def _names(path: Path) -> list[str]:
    """Names on the way from the root, or from a folder, to `path`; the first one last."""
    return [part for part in reversed(path.parts) if part != path.anchor]


def _reason_of_folder(folder: Path, facts: os.stat_result, is_last: bool) -> str | None:
    """Why what is in `folder` cannot be trusted, or None."""
    reason = _reason_of_owner(folder, facts)
    if reason is not None:
        return reason
    if is_last:
        is_open = bool(facts.st_mode & WRITABLE)
    else:  # in a sticky folder, such as /tmp, only the owner of an entry can rename it
        is_open = not facts.st_mode & stat.S_ISVTX and _is_open(folder, facts)
    if is_open:
        return f"other users can write to {folder} and so put any code there; chmod go-w makes it yours alone"
    return None


def _reason_of_file(file: Path, facts: os.stat_result) -> str | None:
    """Why the open `file` cannot be trusted, or None."""
    if not stat.S_ISREG(facts.st_mode):
        return f"{file} is no regular file"
    if facts.st_mode & WRITABLE:
        return f"other users can write to {file} and so put any code there; chmod go-w makes it yours alone"
    return _reason_of_owner(file, facts)


def _reason_of_owner(path: Path, facts: os.stat_result) -> str | None:
    """Why the owner of `path` cannot be trusted, or None."""
    if facts.st_uid in (os.geteuid(), 0):
        return None
    return f"{path} belongs to another user, who could put any code there"


def _is_open(folder: Path, facts: os.stat_result) -> bool:
    """Whether other users can write to `folder`.

    Many systems give each user a group of the same name, which nobody else is in, and let it write to new folders.
    """
    if facts.st_mode & stat.S_IWOTH:
        return True
    return bool(facts.st_mode & stat.S_IWGRP) and not (_is_own_group(facts.st_gid) and not _has_acl(folder))


def _is_own_group(number: int) -> bool:
    """Whether group `number` is the user's alone: his first group, of his name, without other members."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return user.pw_gid == number and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _has_acl(folder: Path) -> bool:
    """Whether other users may be named in an access list, which the bits of the group then stand for."""
    if not hasattr(os, "getxattr"):
        return False
    try:
        return bool(os.getxattr(folder, "system.posix_acl_access"))
    except OSError as error:
        return error.errno not in (errno.ENODATA, errno.ENOTSUP)
