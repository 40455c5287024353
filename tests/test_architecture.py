"""The house rules of CONTRIBUTING.md, read off the source of the package."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

import mmad_metric

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = "mmad_metric"
ROOT = Path(__file__).resolve().parent.parent / PACKAGE

# The rooms of the house from the ground up. A module may import what stands before it: in an
# earlier row, or further left in its own. A package's own name is its __init__.
LAYERS = {
    "the ground": "version errors blocking addresses names",
    "the seam to a model": "chat",
    "MQM values": "mqm label_words labels normalise material glossary spans merging languages "
    "scales rating scoring provenance stretches",
    "settings": "method_space setting_fields plain_values config call_counts signature repeats "
    "results layouts filtering",
    "prompts": "pack_parts pack_files packs templates deciding_prompts",
    "replies": "replies replies.mend replies.scan replies.items replies.search replies.shapes "
    "replies.numbers",
    "one segment": "stages stages.context stages.annotate stages.positions stages.room "
    "stages.consensus stages.deliberation stages.interactive_review stages.consultancy_review "
    "stages.debate stages.judge baselines baselines.packs baselines.prompts baselines.scores "
    "baselines.context baselines.listing baselines.gemba_mqm baselines.eaprompt "
    "baselines.gemba_da baselines.rate pipeline",
    "many segments": "runner",
    "statistics": "stats.table stats.resampling stats.significance stats.clusters stats",
    "talking to a server": "servers servers.endpoint servers.dialect servers.refusals "
    "servers.completions servers.verdicts servers.client servers.openai_chat",
    "the embedded model": "local local.span_schema local.model local.setup local.chat",
    "around a model": "calls calls.prices calls.cache calls.limits calls.reasking calls.connect",
    "files": "files files.lines files.json_lines files.documents files.glossaries files.tables "
    "files.corpus files.input_spec files.parallel files.system_names files.inputs "
    "files.run_lines files.run_file files.score_files",
    "comparing runs": "comparison comparison.systems comparison.outcome comparison.segments",
    "meta-evaluation": "metaeval metaeval.arrays metaeval.references metaeval.layout "
    "metaeval.metric_files metaeval.placing metaeval.placed_runs metaeval.ratings "
    "metaeval.marot metaeval.runs metaeval.export metaeval.correlation metaeval.ties "
    "metaeval.system_level metaeval.matrices metaeval.measures metaeval.meta_score "
    "metaeval.span_agreement metaeval.distributions metaeval.human_spans metaeval.marot_gold "
    "metaeval.loading metaeval.resampling metaeval.exchanged_ties metaeval.permutation "
    "metaeval.ranking metaeval.selection metaeval.raters metaeval.coverage metaeval.latex "
    "metaeval.tables metaeval.reports metaeval.plots",
    "a run": "beside memory session recording debate_lengths forecast testing",
    "a grid of runs": "sweep sweep.names sweep.grid sweep.settings sweep.folder sweep.running",
    "the Python face": "api registration integrations.ranks integrations.decoding "
    "integrations.columns integrations.trainer integrations.datasets integrations __init__ "
    "sacrebleu_metric",
    "the report": "report report.target report.text report.runs report.survey report.debates "
    "report.cards report.overview report.document",
    "the Space": "hub hub.space hub.wheel hub.folder hub.push hub.page hub.visit hub.app",
    "the command line": "cli.exits cli.terminal cli.sacrebleu_options cli.options cli.columns "
    "cli.resampling cli.test_sets cli.overlap cli.printing cli.output cli.forecast cli.given "
    "cli.findings cli.rated cli.targets cli.name_lists cli.error_filters cli.report cli.rate "
    "cli.score cli.prompt_text cli.baseline_prompts cli.prompts cli.local cli.register "
    "cli.tables cli.sweep_output cli.sweep cli.compare_output cli.compare cli.hub cli.export "
    "cli.meta_eval_rules cli.meta_eval_options cli.meta_eval cli cli.__main__",
    "the evaluate face": "metric_inputs metric_options mmad",
}
PLACE = {name: place for place, name in enumerate(" ".join(LAYERS.values()).split())}

# An import for a type alone, upwards, each with its reason.
TYPE_ONLY_UPWARDS = {
    ("errors", "chat"): "a SegmentFailure carries the Usage of the calls that failed",
}

# Libraries that one room alone may know, so that it can be told what spends money or is heavy.
SINGLE_IMPORTERS = {
    "openai": {"servers.client", "servers.batch_chat"},
    "aiohttp": {"servers.client"},
    "evaluate": {"mmad"},
    # The evaluate face names its features; the other rates what is a data set already.
    "datasets": {"mmad", "integrations.datasets"},
    "ray": {"ray_runner"},
    "sacrebleu": {"sacrebleu_metric"},
    "xllamacpp": {"local.chat"},
    "huggingface_hub": {"local.model", "hub.push"},
    "gradio": {"hub.app"},
    "sqlite3": {"calls.cache"},
    # The openai client brings one of them, which one is its own affair.
    "httpx": set(),
    "httpx2": set(),
    "requests": set(),
}
# What neither `import mmad_metric` nor `mmad --help` may load.
HEAVY = (
    *("openai", "evaluate", "datasets", "ray", "aiohttp", "sacrebleu", "xllamacpp"),
    *("numpy", "pandas", "huggingface_hub", "gradio", "jinja2", "pydantic", "genai_prices"),
)

MOST_LINES = 350
MOST_FUNCTION_LINES = 60
MOST_PARAMETERS = 6


@dataclass(frozen=True)
class Import:
    """One import of a module, wherever it stands in it."""

    name: str
    line: int
    in_function: bool
    for_types: bool


@dataclass(frozen=True)
class Module:
    """A source file of the package under its name in LAYERS."""

    name: str
    path: Path
    tree: ast.Module
    imports: tuple[Import, ...]

    def internal(self) -> Iterator[tuple[str, Import]]:
        """The package's own modules that this one imports, under their names in LAYERS."""
        for each in self.imports:
            if each.name == PACKAGE:
                yield "__init__", each
            elif each.name.startswith(PACKAGE + "."):
                yield each.name.removeprefix(PACKAGE + "."), each


@lru_cache(maxsize=1)
def modules() -> dict[str, Module]:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = list(path.relative_to(ROOT).with_suffix("").parts)
        if parts[-1] == "__init__" and len(parts) > 1:
            del parts[-1]
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        name = ".".join(parts)
        found[name] = Module(name, path, tree, tuple(_imports(tree)))
    return found


def _imports(tree: ast.Module) -> Iterator[Import]:
    def walk(node: ast.AST, *, in_function: bool, for_types: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            for name in _imported(child):
                yield Import(name, getattr(child, "lineno", 0), in_function, for_types)
            inside = in_function or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            types = for_types or (
                isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            )
            yield from walk(child, in_function=inside, for_types=types)

    return walk(tree, in_function=False, for_types=False)


def _imported(node: ast.AST) -> list[str]:
    """The modules that one statement or call names; `from mmad_metric import x` counts as x's."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        if (ROOT.parent / module.replace(".", "/")).is_dir():
            return [_submodule(module, alias.name) for alias in node.names]
        return [module]
    if (
        isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("importlib.import_module", "import_module", "__import__")
        and node.args
        and isinstance(node.args[0], ast.Constant)
    ):
        return [str(node.args[0].value)]
    return []


def _submodule(package: str, name: str) -> str:
    folder = ROOT.parent / package.replace(".", "/")
    is_module = (folder / f"{name}.py").is_file() or (folder / name).is_dir()
    return f"{package}.{name}" if is_module else package


def _is_face(name: str) -> bool:
    """Faces may load heavy parts when they need them; nobody else hides an import."""
    return name in ("__init__", "mmad", "registration") or name.partition(".")[0] == "cli"


# -- the order of the rooms


def test_every_module_has_its_place_in_the_layers() -> None:
    unlisted = modules().keys() - PLACE.keys()
    assert not unlisted, (
        f"{sorted(unlisted)}: new here? Put the name into the row of LAYERS where it belongs, "
        "after all that it imports"
    )
    gone = PLACE.keys() - modules().keys()
    assert not gone, f"{sorted(gone)}: listed in LAYERS, but no such module"


def test_imports_point_downwards() -> None:
    wrong = [
        f"{module.name}:{each.line} imports {target}, which stands above it"
        for module in modules().values()
        for target, each in module.internal()
        if module.name in PLACE
        and target in PLACE
        and PLACE[target] >= PLACE[module.name]
        and not (each.for_types and (module.name, target) in TYPE_ONLY_UPWARDS)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_import_cycle_not_even_through_an_import_inside_a_function() -> None:
    graph = {
        module.name: {target for target, each in module.internal() if not each.for_types}
        for module in modules().values()
    }
    # Taking away what imports nothing that is left, again and again, leaves the cycles.
    while free := [name for name, targets in graph.items() if not targets & graph.keys()]:
        for name in free:
            del graph[name]
    assert not graph, {name: sorted(targets & graph.keys()) for name, targets in graph.items()}


def test_no_internal_import_hides_in_a_function_but_for_the_faces() -> None:
    hidden = [
        f"{module.name}:{each.line} imports {target}"
        for module in modules().values()
        for target, each in module.internal()
        if each.in_function and not _is_face(module.name)
    ]
    assert not hidden, "\n".join(hidden)


def test_imports_are_absolute() -> None:
    relative = [
        f"{module.name}:{each.line}"
        for module in modules().values()
        for each in module.imports
        if each.name.startswith(".")
    ]
    assert not relative, relative


@pytest.mark.parametrize("library", SINGLE_IMPORTERS)
def test_a_library_has_no_importer_but_its_own_room(library: str) -> None:
    allowed = SINGLE_IMPORTERS[library]
    others = [
        f"{module.name}:{each.line}"
        for module in modules().values()
        for each in module.imports
        if each.name.partition(".")[0] == library
        and module.name not in allowed
        and not (library == "sacrebleu" and _is_face(module.name))
    ]
    assert not others, f"{library} belongs into {sorted(allowed) or 'no module'}: {others}"


def _declared(extras: Collection[str]) -> set[str]:
    """Import names of the dependencies, and of those of some extras, in pyproject.toml."""
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = list(project["dependencies"])
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    return {re.split(r"[^\w-]", line)[0].replace("-", "_").lower() for line in lines}


def _foreign() -> set[str]:
    tops = {each.name.partition(".")[0] for module in modules().values() for each in module.imports}
    # tomllib is in the standard library, but not yet in Python 3.10's list of it.
    return {top.lower() for top in tops - {PACKAGE, "", "tomllib"} - sys.stdlib_module_names}


def test_every_library_that_is_imported_is_declared() -> None:
    undeclared = _foreign() - _declared(["local", "evaluate", "report", "ray", "hub"])
    assert not undeclared


def test_every_dependency_that_everyone_must_install_is_imported() -> None:
    idle = _declared([]) - _foreign()
    assert not idle


# -- sizes


def test_no_file_is_long() -> None:
    lines = {name: module.path.read_bytes().count(b"\n") for name, module in modules().items()}
    assert not {name: count for name, count in lines.items() if count > MOST_LINES}


def _functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for module in modules().values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{module.name}:{node.lineno} {node.name}", node


def test_no_function_is_long() -> None:
    lengths = {
        where: (node.end_lineno or node.lineno) - node.lineno + 1 for where, node in _functions()
    }
    assert not {where: length for where, length in lengths.items() if length > MOST_FUNCTION_LINES}


def test_no_function_takes_many_parameters() -> None:
    counts = {}
    for where, node in _functions():
        given = node.args
        names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
        names += [each.arg for each in (given.vararg, given.kwarg) if each is not None]
        counts[where] = len(names) - (names[:1] in (["self"], ["cls"]))
    assert not {where: count for where, count in counts.items() if count > MOST_PARAMETERS}


# -- manners


def test_every_module_says_in_its_first_line_what_it_is_for() -> None:
    silent = [
        name for name, module in modules().items() if not (ast.get_docstring(module.tree) or "")
    ]
    assert not silent, silent


def test_text_is_never_run_as_code() -> None:
    found = [
        f"{module.name}:{node.lineno}"
        for module in modules().values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("eval", "exec", "compile")
    ]
    assert not found, found


def test_every_package_of_the_tree_is_listed_for_the_wheel() -> None:
    settings = tomllib.loads((ROOT.parent / "pyproject.toml").read_text(encoding="utf-8"))
    listed = settings["tool"]["setuptools"]["packages"]
    in_tree = [
        ".".join(path.parent.relative_to(ROOT.parent).parts) for path in ROOT.rglob("__init__.py")
    ]
    # Mapped from elsewhere in the repository: the prompts, and the top-level hub_card.md.
    assert sorted(listed) == sorted([*in_tree, f"{PACKAGE}.prompts", f"{PACKAGE}.card"])


# -- what loads when


def _loaded_after(statements: str, folder: Path) -> set[str]:
    """Names of HEAVY that a fresh interpreter has loaded after these statements."""
    ending = f"import json, sys; print(json.dumps([n for n in {HEAVY!r} if n in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", f"{statements}\n{ending}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT.parent), "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_the_package_loads_nothing_heavy(tmp_path: Path) -> None:
    assert _loaded_after("import mmad_metric", tmp_path) == set()


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_nothing_heavy_and_need_no_key(option: str, tmp_path: Path) -> None:
    statements = (
        "import sys\n"
        "from mmad_metric.cli import main\n"
        "try:\n"
        f"    main([{option!r}])\n"
        "except SystemExit as end:\n"
        "    assert end.code == 0, end.code\n"
    )
    assert _loaded_after(statements, tmp_path) == set()


def test_the_public_names_are_exactly_what_the_namespace_offers() -> None:
    promised = set(mmad_metric.__all__)
    assert len(promised) == len(mmad_metric.__all__)
    for name in promised:
        assert getattr(mmad_metric, name) is not None
    # Now that all are loaded, they stand in the namespace like any other name.
    ours = {
        name
        for name, value in vars(mmad_metric).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith(PACKAGE)
    }
    assert ours | {"__version__"} == promised
    assert set(dir(mmad_metric)) == promised


def test_no_public_name_is_a_module_too() -> None:
    """`import mmad_metric.x` sets mmad_metric.x to the module, over a function of that name."""
    both = sorted(set(mmad_metric.__all__) & modules().keys())
    assert not both, f"{both}: name the module otherwise"


def test_a_name_that_the_package_does_not_offer_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = mmad_metric.no_such_name
