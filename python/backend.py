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
sys.path.insert(0, HERE)
import wheel_policy  # noqa: E402

with open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as project:
    PROJECT = dict(re.findall(r'^([a-z-]+) = "(.*)"$', project.read().partition("[project]\n")[2], re.M))
VERSION = PROJECT["version"]
# RIDGE_WHEEL_KERNELS=avx512: a wheel that holds the module with the kernels of that instruction set alone (ridge/_kernels.py).
KERNELS = os.environ.get("RIDGE_WHEEL_KERNELS")
NAME = PROJECT["name"] + (f"_kernels_{KERNELS}" if KERNELS else "")
METADATA = f"""Metadata-Version: 2.1
Name: {NAME.replace("_", "-")}
Version: {VERSION}
Summary: {PROJECT["description"]}
Requires-Python: {PROJECT["requires-python"]}
Requires-Dist: {f"ridge=={VERSION}" if KERNELS else "numpy"}
"""


def _tag(module):
    """cp311-cp311 and the manylinux tag of a module that needs no library of this system, else the platform's."""
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    alone = all(name in wheel_policy.SYSTEM for name in wheel_policy.facts(module)["needed"])
    own = wheel_policy.tag_of([module]) if alone or wheel_policy.facts(module)["origin"] else None
    return f"{version}-{version}-{own or sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _libraries(module):
    """Paths of the libraries that a module finds in its own folder ($ORIGIN) and that a wheel must therefore hold."""
    if not wheel_policy.facts(module)["origin"]:
        return {}
    loaded = re.findall(r"(\S+) => (/\S+)", subprocess.check_output(["ldd", module], text=True))
    needed = set(wheel_policy.facts(module)["needed"]) - wheel_policy.SYSTEM
    return {name: path for name, path in loaded if name in needed}


def _stripped(path, folder):
    """The bytes of a shared object without its symbol table."""
    copy = shutil.copy(path, os.path.join(folder, "stripped.so"))
    if shutil.which("strip"):
        subprocess.check_call(["strip", "--strip-unneeded", copy])
    with open(copy, "rb") as file:
        return file.read()


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
                                   "-DRIDGE_UNITY=ON", "-DRIDGE_WHEEL=ON", f"-DPython3_EXECUTABLE={sys.executable}",
                                   *([f"-DRIDGE_TARGETS={KERNELS}"] if KERNELS else []),
                                   *shlex.split(os.environ.get("CMAKE_ARGS", ""))])
        # An explicit number of jobs: without one, make starts a job per file and exhausts memory.
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(len(os.sched_getaffinity(0)))
        subprocess.check_call(["cmake", "--build", build, "--target", "ridge_python", "--parallel", jobs])
        files = {}
        package = os.path.join(build, "python", "ridge")
        module = next((os.path.join(package, name) for name in os.listdir(package) if name.startswith("_ridge.cp")), None)
        if module is None:
            raise RuntimeError("CMake built no Python module: are Python's headers and pybind11 installed?")
        if KERNELS:
            files[f"{NAME}/__init__.py"] = f'__version__ = "{VERSION}"\n'.encode()
        for name in [] if KERNELS else sorted(os.listdir(package)):
            if name.endswith((".py", ".pyi", "py.typed")):
                with open(os.path.join(package, name), "rb") as source:
                    files[f"{NAME}/{name}"] = source.read()
        with open(os.path.join(ROOT, "packaging", "ridge-wisdom.json"), "rb") as choices:  # found beside the module
            files[f"{NAME}/ridge-wisdom.json"] = choices.read()
        for name, path in {os.path.basename(module): module, **_libraries(module)}.items():
            files[f"{NAME}/{name}"] = _stripped(path, scratch)
        tag = _tag(module)
    info = f"{NAME}-{VERSION}.dist-info"
    files[f"{info}/METADATA"] = METADATA.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: ridge\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{NAME}-{VERSION}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel
