"""Compares the stubs with the modules by mypy's stubtest. Skipped without mypy."""
import os
import subprocess
import sys
import tempfile

try:
    import mypy.stubtest  # noqa: F401
    import numpy  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

# The C++ module is private; a Field's arithmetic operators exist only to raise an error; modules of frameworks that are not
# installed cannot be imported.
ALLOWED = r"""ridge\._ridge\..*
ridge\.(torch|_torch_nufft|_torch_tensors|_jax_nufft|jax|dask|xarray)(\..*)?
ridge\.stencil\.Field\.__.*
"""
with tempfile.TemporaryDirectory() as folder:
    allowlist = os.path.join(folder, "allowed")
    with open(allowlist, "w", encoding="ascii") as f:
        f.write(ALLOWED)
    environment = {**os.environ, "MYPYPATH": os.environ["PYTHONPATH"], "MYPY_CACHE_DIR": os.path.join(os.environ.get("RIDGE_CACHE_DIR", folder), "mypy")}
    sys.exit(subprocess.call([sys.executable, "-m", "mypy.stubtest", "--concise", "--ignore-unused-allowlist", "--allowlist",
                              allowlist, "ridge"], env=environment))
