"""What the source says for a person in English, read without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from string import Formatter

ROOT = Path(__file__).parents[1]
ENGINE, PAGE = "specdec", "visualizations"
FOR_PROGRAMS = {"api.py", "command_line.py", "load_test"}  # of the page: they answer in English


def sources(package: str, without: Iterable[str] = ()) -> list[str]:
    """Of the package's modules, but for those whose file or folder is named in `without`."""
    paths = sorted((ROOT / package).rglob("*.py"))
    return [path.read_text("utf-8") for path in paths if not set(without) & set(path.relative_to(ROOT).parts)]


def phrase_calls(texts: Iterable[str]) -> Iterator[ast.Call]:
    """Where a `Phrase`, a `BadInput` or one of its kinds is made, but for their own definitions."""
    trees = [ast.parse(text) for text in texts]
    kinds = _kinds(trees)
    for tree in trees:
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name in kinds]
        own = {inner for node in classes for inner in ast.walk(node)}
        yield from (n for n in ast.walk(tree) if isinstance(n, ast.Call) and _name(n.func) in kinds and n not in own)


def templates(texts: Iterable[str]) -> dict[str, str]:
    """Every template that is written out, as a key and as its own English."""
    found = {call.args[0].value for call in phrase_calls(texts) if call.args and isinstance(call.args[0], ast.Constant)}
    return {template: template for template in sorted(found)}


def unsayable(texts: Iterable[str]) -> list[str]:
    """Phrases that no table can hold: put together before they are said, or with other names than their values."""
    return [ast.unparse(call) for call in phrase_calls(texts) if not _is_template(call) and not _is_text(call)]


def said_in_english(texts: Iterable[str]) -> list[str]:
    """Refusals that are caught and shown by their str()."""
    trees = [ast.parse(text) for text in texts]
    kinds = _kinds(trees) | {"BadInput"}
    handlers = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    caught = [(node, node.name) for node in handlers if node.type and kinds & set(map(_name, ast.walk(node.type)))]
    return [
        ast.unparse(call)
        for handler, name in caught
        for call in ast.walk(handler)
        if isinstance(call, ast.Call) and _name(call.func) == "str" and name in map(_name, call.args)
    ]


def taken_at_import(texts: Iterable[str]) -> list[str]:
    """Texts of the page that are looked up when a module is imported, where only one language is spoken."""
    calls = [call for text in texts for call in _run_at_import(ast.parse(text))]
    return [ast.unparse(call) for call in calls if _name(call.func) in ("t", "say")]


def _run_at_import(node: ast.AST) -> Iterator[ast.Call]:
    if isinstance(node, ast.Call):
        yield node
    later: list[ast.AST] = []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        later = node.body if isinstance(node.body, list) else [node.body]
    for child in ast.iter_child_nodes(node):
        if child not in later:
            yield from _run_at_import(child)


def _kinds(trees: list[ast.Module]) -> set[str]:
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    kinds, before = {"Phrase", "BadInput"}, 0
    while len(kinds) > before:
        before = len(kinds)
        kinds |= {node.name for node in classes if kinds & set(map(_name, node.bases))}
    return kinds


def _name(node: ast.AST) -> str | None:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _is_template(call: ast.Call) -> bool:
    if not call.args or not isinstance(call.args[0], ast.Constant):
        return False
    names = {name for _, name, _, _ in Formatter().parse(call.args[0].value) if name is not None}
    return names == {keyword.arg for keyword in call.keywords}


def _is_text(call: ast.Call) -> bool:
    """A text of the page, which holds every language already."""
    inner = [node for argument in call.args for node in ast.walk(argument) if isinstance(node, ast.Call)]
    return not call.keywords and "t" in {_name(node.func) for node in inner}
