"""The machine: its devices, measured ceilings and rooflines."""
import json

from . import _ridge

__all__ = ["devices", "machine", "Machine"]


def devices():
    """Every device of this machine as a dict: id, name, backend, isa, compute_units, memory. The host is first.

    >>> devices()[0]["id"]
    'host'
    """
    return _ridge.devices()


class Machine:
    """A measured profile; a notebook displays the rooflines of its devices."""

    def __init__(self, text):
        self._text = text
        self.data = json.loads(text)

    @property
    def ids(self):
        return [device["id"] for device in self.data["devices"]]

    def svg(self, device="host"):
        """The roofline of one device as an SVG drawing."""
        return _ridge.roofline_svg(self._text, device)

    def _repr_html_(self):
        return "".join(f"<figure>{self.svg(i)}<figcaption>{i}</figcaption></figure>" for i in self.ids)

    def __repr__(self):
        return f"<ridge.Machine with {', '.join(self.ids)}>"


def machine(refresh=False, seconds=60.0):
    """The saved profile of this machine; measures it (for `seconds`) if there is none or `refresh` is set."""
    text = None if refresh else _ridge.profile_json()
    return Machine(text if text is not None else _ridge.measure_json(seconds))
