"""The prose of the generated contract: docstrings of the models and of their attributes.

Python keeps no attribute docstrings, so they are read from the source. References to rules and sections are for
readers of the code and are left out.
"""

import ast
import inspect
import re
import sys
from collections.abc import Mapping
from functools import cache

# "(RT-001)", "(`contract §3`, ST-008)" and the like, with the space before.
_REFERENCES = re.compile(r"\s*\((?=[^()]*(?:\b(?:RT|ST|PR|AP|RP|FC)-\d+|`\w+ §))[^()]*\)")

_SECTION = re.compile(r"`contract §\d+`")


def description_of(shape: type) -> str:
    """What the class is, in one paragraph."""
    return _prose(shape.__dict__.get("__doc__") or "")


def attribute_descriptions(shape: type) -> Mapping[str, str]:
    """Attribute name to prose, for those that have any; inherited ones included."""
    found: dict[str, str] = {}
    for base in reversed(shape.__mro__[:-1]):
        found |= _attribute_docstrings(base)
    return found


def _attribute_docstrings(shape: type) -> dict[str, str]:
    definition = _class_definitions(shape.__module__).get(shape.__name__)
    if definition is None:
        return {}
    found = {}
    for statement, following in zip(definition.body, definition.body[1:], strict=False):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
            and isinstance(following.value.value, str)
        ):
            found[statement.target.id] = _prose(following.value.value)
    return found


@cache
def _class_definitions(module_name: str) -> dict[str, ast.ClassDef]:
    module = sys.modules[module_name]
    tree = ast.parse(inspect.getsource(module))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _prose(docstring: str) -> str:
    text = _SECTION.sub("the contract", _REFERENCES.sub("", inspect.cleandoc(docstring)))
    return " ".join(text.split())
