"""The stubs say what the package is: mypy's stubtest compares them with the modules. Skipped without mypy."""
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

# The module in C++ is not for users; a field's arithmetic is there to say that it must be indexed.
ALLOWED = r"""ridge\._ridge\..*
ridge\.stencil\.Field\.__.*
"""
with tempfile.TemporaryDirectory() as folder:
    allowlist = os.path.join(folder, "allowed")
    with open(allowlist, "w", encoding="ascii") as f:
        f.write(ALLOWED)
    environment = {**os.environ, "MYPYPATH": os.environ["PYTHONPATH"], "MYPY_CACHE_DIR": os.path.join(folder, "cache")}
    sys.exit(subprocess.call([sys.executable, "-m", "mypy.stubtest", "--concise", "--ignore-unused-allowlist", "--allowlist",
                              allowlist, "ridge"], env=environment))
