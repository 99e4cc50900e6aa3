# SPDX-License-Identifier: BSD-3-Clause
"""Files that are there as a whole, or as they were before."""
import errno
import os
import pathlib
import tempfile


def write(path, contents):
    """Write text or bytes.  What is there stays as it is if that fails, as on a full disk.

    A new file beside it takes its place.  Of a symbolic link it is the place where that leads; a pipe
    or a device, and a file in a folder that takes no others, are written themselves.
    """
    path = pathlib.Path(os.path.realpath(path))
    if isinstance(contents, str):
        contents = contents.encode("utf-8")
    if path.exists() and not path.is_file():
        path.write_bytes(contents)
        return
    if path.exists():
        with path.open("r+b"):  # an error if it may not be written
            pass
    try:
        replace(path, contents)
    except OSError as trouble:
        if trouble.errno not in (errno.EACCES, errno.EPERM, errno.EROFS) or not path.exists():
            raise
        path.write_bytes(contents)


def replace(path, contents):
    """Put a new file in the place of what is there."""
    file, new = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with open(file, "wb") as out:
            out.write(contents)
            os.fchmod(file, mode_of(path))
        os.replace(new, path)
    except BaseException:
        os.unlink(new)
        raise


def mode_of(path):
    """The permissions of the file, or those that a new one gets."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
