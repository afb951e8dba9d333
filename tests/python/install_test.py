"""Tests that pip and `cmake --install` both install an importable package, without network access.

  install_test.py SOURCE BUILD      RIDGE_SLOW=1: pip builds everything anew, into a virtual environment
"""
import os
import shutil
import subprocess
import sys
import tempfile

source, build = sys.argv[1:3]
try:
    import numpy  # noqa: F401
    import pip  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM = """
import sys, numpy as np, ridge
assert ridge.__file__.startswith(sys.argv[1]), ridge.__file__
assert ridge._ridge.__file__.startswith(sys.argv[1]), ridge._ridge.__file__
assert np.allclose(ridge.fft.ifft(ridge.fft.fft([1.0, 2.0, 4.0])), [1, 2, 4])
assert ridge.stencil.run({0: 0.5, 1: 0.5}, np.array([0.0, 2.0]), border="periodic").tolist() == [1.0, 1.0]
import os
assert os.path.exists(os.path.join(os.path.dirname(ridge.__file__), "py.typed"))
assert os.path.exists(os.path.join(os.path.dirname(ridge.__file__), "stencil.pyi"))
assert os.path.exists(os.path.join(os.path.dirname(ridge._ridge.__file__), "ridge-wisdom.json"))  # choices measured on other machines
"""
clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def must(command, **environment):
    done = subprocess.run(command, env={**clean, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stdout}")
    return done.stdout


with tempfile.TemporaryDirectory() as work:
    pip = ["-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index", "--no-cache-dir", "--quiet"]
    # A wheel of this build may need {fmt} of this system (RIDGE_WHEEL=ON puts it inside); nothing else may violate the policy.
    must([sys.executable, "-m", "pip", "wheel", *pip[3:], "--wheel-dir", work, source], RIDGE_BUILD_DIR=build)
    (wheel,) = [os.path.join(work, name) for name in os.listdir(work) if name.endswith(".whl")]
    sys.path.insert(0, os.path.join(source, "python"))
    import wheel_policy
    found, tag = wheel_policy.violations(wheel, 12)
    if any("libfmt" not in line for line in found) or not tag.startswith("manylinux_2_"):
        sys.exit(f"{wheel} ({tag}) violates the policy: {found}")
    if not wheel_policy.violations(wheel, 0.1)[0]:
        sys.exit("the policy accepts a wheel that is too large")
    print(f"pip wheel: {os.path.getsize(wheel) / 1e6:.1f} MB, {tag}")

    target = os.path.join(work, "target")
    must([sys.executable, *pip, "--target", target, wheel])
    must([sys.executable, "-c", PROGRAM, target], PYTHONPATH=target)
    print("pip install --target: works")

    # A wheel of kernels is used if its version is that of the package.
    must([sys.executable, "-m", "pip", "wheel", *pip[3:], "--wheel-dir", work, source], RIDGE_BUILD_DIR=build, RIDGE_WHEEL_KERNELS="avx512")
    must([sys.executable, *pip, "--target", target, *(os.path.join(work, name) for name in os.listdir(work) if "avx512" in name)])
    loaded = "import sys, ridge\nassert sys.argv[2] in ridge._ridge.__file__ and ridge._ridge.__name__ == 'ridge._ridge', ridge._ridge.__file__\n"
    must([sys.executable, "-c", loaded + PROGRAM, target, "ridge_kernels_avx512"], PYTHONPATH=target)
    must([sys.executable, "-c", loaded, target, "/ridge/"], PYTHONPATH=target, RIDGE_SIMD="avx2")
    # Of another length, because Python takes a compiled file for a source with the same size and second.
    with open(os.path.join(target, "ridge_kernels_avx512", "__init__.py"), "w") as file:
        file.write('__version__ = "0.0.10"\n')
    if "0.0.10 does not belong to ridge" not in must([sys.executable, "-c", loaded + PROGRAM, target, "/ridge/"], PYTHONPATH=target):
        sys.exit("kernels of another version were used, or refused without a warning")
    print("ridge-kernels-avx512: works")

    prefix = os.path.join(work, "prefix")
    must(["cmake", "--install", build, "--component", "python", "--prefix", prefix])
    found = [folder for folder, _, files in os.walk(prefix) if "__init__.py" in files]
    if len(found) != 1:
        sys.exit(f"cmake --install left {len(found)} packages below {prefix}")
    folder = os.path.dirname(found[0])
    must([sys.executable, "-c", PROGRAM, folder], PYTHONPATH=folder)
    print(f"cmake --install: works, {os.path.relpath(folder, prefix)}")

    if os.environ.get("RIDGE_SLOW"):
        environment = os.path.join(work, "venv")
        must([sys.executable, "-m", "venv", "--system-site-packages", environment])
        python = os.path.join(environment, "bin", "python3")
        copy = os.path.join(work, "source")
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build", ".git", "shared", "test-cache"))
        must([python, "-m", "pip", "install", "--quiet", copy])  # as in docs/python.md
        must([python, "-c", PROGRAM, environment])
        print("pip install into a virtual environment, built anew: works")
