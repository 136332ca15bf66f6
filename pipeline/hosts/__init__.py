"""Programs' rules as values."""

from __future__ import annotations

from typing import Final

from pipeline.hosts.host import Family, Host, Plugins, Reading, Registry
from pipeline.hosts.standard import STANDARD
from pipeline.hosts.xcsh import XCSH

HOSTS: Final = {host.name: host for host in (STANDARD, XCSH)}
"""Every host by its name."""

__all__ = ["HOSTS", "STANDARD", "XCSH", "Family", "Host", "Plugins", "Reading", "Registry"]
