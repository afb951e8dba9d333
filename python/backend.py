"""PEP 517 build backend: builds the wheel with CMake, without network access (pip install .)."""
import base64
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as project:
    NAME, VERSION = re.search(r"project\((\w+) VERSION ([\d.]+)", project.read()).groups()
METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: Transforms, filter banks, stencils and image operators close to the limit of the machine they run on
Requires-Python: >=3.9
Requires-Dist: numpy
"""


def _tag():
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{version}-{version}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    # pip calls this first; without it pip would build the whole wheel to read its name.
    info = f"{NAME}-{VERSION}.dist-info"
    os.makedirs(os.path.join(metadata_directory, info), exist_ok=True)
    with open(os.path.join(metadata_directory, info, "METADATA"), "w", encoding="utf-8") as metadata:
        metadata.write(METADATA)
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    # RIDGE_BUILD_DIR names a build folder to use and keep; otherwise a temporary one is used.
    with tempfile.TemporaryDirectory() as scratch:
        build = os.environ.get("RIDGE_BUILD_DIR") or os.path.join(scratch, "build")
        if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
            generator = ["-G", "Ninja"] if shutil.which("ninja") else []
            subprocess.check_call(["cmake", "-S", ROOT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DRIDGE_TESTS=OFF",
                                   "-DRIDGE_UNITY=ON", f"-DPython3_EXECUTABLE={sys.executable}",
                                   *shlex.split(os.environ.get("CMAKE_ARGS", ""))])
        # An explicit number of jobs: without one, make starts a job per file and exhausts memory.
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(len(os.sched_getaffinity(0)))
        subprocess.check_call(["cmake", "--build", build, "--target", "ridge_python", "--parallel", jobs])
        files = {}
        package = os.path.join(build, "python", "ridge")
        for name in sorted(os.listdir(package)):
            if name.endswith((".py", ".pyi", ".so", "py.typed")):
                with open(os.path.join(package, name), "rb") as source:
                    files[f"{NAME}/{name}"] = source.read()
    if not any(name.endswith(".so") for name in files):
        raise RuntimeError("CMake built no Python module: are Python's headers and pybind11 installed?")
    info = f"{NAME}-{VERSION}.dist-info"
    files[f"{info}/METADATA"] = METADATA.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: ridge\nRoot-Is-Purelib: false\nTag: {_tag()}\n".encode()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{NAME}-{VERSION}-{_tag()}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel
