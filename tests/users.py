"""Being somebody else for a while, so that permissions count for root too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NOBODY = 65534


@contextmanager
def as_nobody() -> Iterator[None]:
    """As a user without rights; root may enter any folder."""
    user, group = os.geteuid(), os.getegid()
    os.setegid(NOBODY if user == 0 else group)
    os.seteuid(NOBODY if user == 0 else user)
    try:
        yield
    finally:
        os.seteuid(user)
        os.setegid(group)
