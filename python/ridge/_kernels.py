"""Loads the compiled module from a package of kernels for one instruction set (python/backend.py builds it)."""
import importlib.machinery
import importlib.util
import os
import sys
import warnings


def load(name, version):
    """The module, as ridge._ridge; None if the module of the package ridge is to be used."""
    if os.environ.get("RIDGE_SIMD", "avx512") != "avx512":
        return None
    package = importlib.import_module(name)
    if package.__version__ != version:
        warnings.warn(f"{name} {package.__version__} does not belong to ridge {version} and is not used: install the same version", stacklevel=3)
        return None
    file = "_ridge" + importlib.machinery.EXTENSION_SUFFIXES[0]
    spec = importlib.util.spec_from_file_location("ridge._ridge", os.path.join(package.__path__[0], file))
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError:  # the processor lacks the instructions, or another Python built it
        return None
    sys.modules["ridge._ridge"] = module
    return module
