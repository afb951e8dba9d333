"""Parses the recipes in packaging/: they must name the project's version and license, options that the build has, and files that it
installs.

  recipes_test.py SOURCE
"""
import ast
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
project = (source / "CMakeLists.txt").read_text(encoding="utf-8")
version = re.search(r"project\(ridge VERSION ([\d.]+)", project).group(1)
build_text = project + "".join(path.read_text(encoding="utf-8") for folder in ("cmake", "src", "python")
                               for pattern in ("*.cmake", "CMakeLists.txt") for path in sorted((source / folder).rglob(pattern)))
known = set(re.findall(r"option\((RIDGE_\w+)|set\((RIDGE_\w+) [^)]*CACHE|NOT (RIDGE_PYTHON_FOLDER)", build_text))
options = {name for names in known for name in names if name}
assert {"RIDGE_MPI", "RIDGE_PYTHON_FOLDER"} <= options, options


def check_options(where, text):
    used = {a or b for a, b in re.findall(r'-D(RIDGE_\w+)=|define(?:_from_variant)?\("(RIDGE_\w+)"', text)}
    assert used, f"{where} sets no option"
    assert used <= options, f"{where} sets {sorted(used - options)}, which the build does not have"


def conda():
    path = source / "packaging/conda/recipe.yaml"
    text = path.read_text(encoding="utf-8")
    check_options(path, text)
    assert f"version: {version}\n" in text, f"{path}: not version {version}"
    assert "license: Apache-2.0" in text
    try:
        import yaml
    except ImportError:
        print("PyYAML is not installed: recipe.yaml was searched, not parsed")
        return
    recipe = yaml.safe_load(text)
    assert recipe["context"]["version"] == version
    outputs = {output["package"]["name"]: output for output in recipe["outputs"]}
    assert set(outputs) == {"libridge", "ridge", "python-ridge"}, set(outputs)
    for name, output in outputs.items():
        assert output["build"]["files"] and isinstance(output["build"]["files"], list), name
    assert isinstance(recipe["build"]["script"], list) and recipe["requirements"]["host"]


def spack():
    path = source / "packaging/spack/package.py"
    text = path.read_text(encoding="utf-8")
    check_options(path, text)
    (recipe,) = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    calls = [node.value for node in recipe.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    named = {}
    for call in calls:
        named.setdefault(call.func.id, []).append(call.args[0].value)
    assert recipe.name == "Ridge" and named["version"] == [version] and named["license"] == ["Apache-2.0"], named
    used = {call.args[1].value for call in ast.walk(recipe) if isinstance(call, ast.Call)
            and getattr(call.func, "attr", "") == "define_from_variant"}
    assert used <= {*named["variant"], "cuda"}, f"{path} uses variants that it does not declare: {used - set(named['variant'])}"


def easybuild():
    (path,) = (source / "packaging/easybuild").glob("*.eb")
    text = path.read_text(encoding="utf-8")
    check_options(path, text)
    recipe = {"SHLIB_EXT": "so"}
    exec(compile(ast.parse(text), str(path), "exec"), {"__builtins__": {}}, recipe)  # assignments only: no function is in reach
    assert recipe["version"] == version and path.name == f"{recipe['name']}-{version}-foss-2023a.eb"
    for name, *_ in recipe["dependencies"] + recipe["builddependencies"]:
        assert isinstance(name, str)
    assert "bin/ridge" in recipe["sanity_check_paths"]["files"]


for check in (conda, spack, easybuild):
    check()
    print(f"{check.__name__}: right")
