"""The machine: its devices, measured ceilings and rooflines."""
import json
import operator

from . import _ridge
from .array import device_name

__all__ = ["devices", "machine", "Machine", "device_memory", "set_device_memory"]


def devices():
    """Every device of this machine as a dict: id, name, backend, isa, compute_units, memory. The host is first.

    >>> devices()[0]["id"]
    'host'
    """
    return _ridge.devices()


def device_memory(device):
    """Bytes of a device's memory that plans of host arrays may use: nine tenths of it, RIDGE_DEVICE_MEMORY, or set_device_memory()."""
    return _ridge.device_memory(device_name(device))


def set_device_memory(bytes):
    """Limits the device memory of plans made from now on; 0 removes the limit. Larger host arrays are transformed in panels."""
    _ridge.set_device_memory(operator.index(bytes))


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
