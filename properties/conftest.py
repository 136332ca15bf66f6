"""Pytest takes the settings of the laws from here."""

from properties.profiles import load

load()
