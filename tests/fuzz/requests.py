"""Requests at random from the published contract: valid ones, ones with something wrong, and what is no request.

Reads nothing but `contract/greenroom.openrpc.json`, so that a method is fuzzed from the day it is published. A generator of its
own, because hundreds of thousands of requests are wanted and ids have to be those of things that exist.
"""

import base64
import copy
import json
import random
from collections import deque
from collections.abc import Iterator
from typing import Any, TypeAlias

import attrs

from tools.files import ROOT

Json: TypeAlias = Any
Schema: TypeAlias = dict[str, Any]

DOCUMENT: Schema = json.loads((ROOT / "contract" / "greenroom.openrpc.json").read_text(encoding="utf-8"))
METHODS: dict[str, Schema] = {method["name"]: method for method in DOCUMENT["methods"]}
COMPONENTS: Schema = DOCUMENT["components"]["schemas"]

KEPT_IDS = 400
"""Ids of each kind that are remembered from replies, the newest."""
HARVESTED = (
    "agentSessionId",
    "turnId",
    "requestId",
    "messageId",
    "nextCursor",
    "attachmentId",
    "subscriptionId",
)
AWKWARD_TEXTS = (
    "",
    " ",
    "\0",
    "é" * 40,
    "\u202e\ufeff",
    "🜲" * 20,
    "../../etc/passwd",
    "'; DROP TABLE sessions; --",
    '" OR * NEAR(',
    "%s%n{0}${x}",
    "[[hang]]",
    "A" * 5000,
)
AWKWARD_VALUES = (
    None,
    True,
    -1,
    0,
    1.5,
    2**53,
    -(2**63),
    10**30,
    1e308,
    [],
    {},
    [None],
    {"a": {"b": []}},
    *AWKWARD_TEXTS,
)
HOSTILE_FRAMES = (
    b"",
    b" ",
    b"{",
    b"null",
    b"[]",
    b"42",
    b'"text"',
    b'[{"jsonrpc":"2.0","id":1,"method":"health/read","params":{}}]',
    b'{"jsonrpc":"2.0","id":NaN,"method":"health/read","params":{}}',
    b'{"jsonrpc":"2.0","id":1,"method":"health/read","params":{"a":Infinity}}',
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"health/read","params":{}}',
    b'{"jsonrpc":"2.0","id":1e999,"method":"health/read","params":{}}',
    b'{"jsonrpc":"2.0","id":9007199254740993,"method":"health/read","params":{}}',
    b'{"jsonrpc":"2.0","method":"health/read","params":{}}',
    b'{"jsonrpc":"2.0","id":null,"method":"health/read","params":{}}',
    b'{"jsonrpc":"2.0","id":{},"method":"health/read","params":{}}',
    b'{"jsonrpc":"1.0","id":1,"method":"health/read","params":{}}',
    b'{"id":1,"method":"health/read","params":{}}',
    b'{"jsonrpc":"2.0","id":1,"method":"health/read","params":[]}',
    b'{"jsonrpc":"2.0","id":1,"method":7,"params":{}}',
    b'{"jsonrpc":"2.0","id":1,"method":"__class__","params":{}}',
    b'{"jsonrpc":"2.0","id":1,"result":{}}',
    b'{"jsonrpc":"2.0","id":1,"method":"health/read","params":{},"extra":1}',
    b'{"jsonrpc":"2.0","id":1,"method":"health/read","params":' + b"[" * 80 + b"]" * 80 + b"}",
    b'{"jsonrpc":"2.0","id":1,"method":"health/read","params":' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}",
    b'{"jsonrpc":"2.0","id":"' + b"i" * 200 + b'","method":"health/read","params":{}}',
    b"\xef\xbb\xbf{}",
    b'{"jsonrpc":"2.0","id":1,"method":"health/read","params":{"' + b"k" * 100_000 + b'":1}}',
)
"""Each is answered by exactly one reply; none is a request that could be carried out."""


@attrs.define
class Requests:
    """A stream of frames from one seed, fed with what the server answers."""

    chance: random.Random
    fixed: dict[str, tuple[Json, ...]]
    """Values for members of these names, in place of the schema's."""
    methods: tuple[str, ...] = tuple(METHODS)
    _seen: dict[str, deque[Json]] = attrs.field(
        factory=lambda: {name: deque(maxlen=KEPT_IDS) for name in HARVESTED}, init=False
    )
    _numbers: Iterator[int] = attrs.field(factory=lambda: iter(range(1000, 2**40)), init=False)

    def frame(self) -> tuple[bytes, int | None, str | None]:
        """A frame, and the id and the method it names, where it is a request of ours."""
        kind = self.chance.random()
        if kind < 0.1:
            return self.chance.choice(HOSTILE_FRAMES), None, None
        method = self.chance.choice(self.methods)
        params = self.params(method)
        if kind < 0.5:
            params = self.spoiled(params)
        number = next(self._numbers)
        frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return json.dumps(frame, ensure_ascii=self.chance.random() < 0.5).encode(), number, method

    def learn(self, value: Json) -> None:
        """Remember the ids of a reply, so that later requests name things that exist."""
        if isinstance(value, dict):
            for name, member in value.items():
                if name in self._seen and isinstance(member, (str, int)):
                    self._seen[name].append(member)
                else:
                    self.learn(member)
        elif isinstance(value, list):
            for member in value[:20]:
                self.learn(member)

    # --- valid values -------------------------------------------------------------------------------------------

    def params(self, method: str) -> dict[str, Json]:
        """Parameters that the schema allows."""
        return {
            param["name"]: self.value(param["schema"], param["name"])
            for param in METHODS[method]["params"]
            if param["required"] or self.chance.random() < 0.4
        }

    def value(self, schema: Schema, name: str = "") -> Json:
        """A value of a member of this name: one that means something where there is one, else any the schema allows."""
        if name in self.fixed:
            return self.chance.choice(self.fixed[name])
        seen = self._seen.get("nextCursor" if name == "cursor" else name)
        if seen and self.chance.random() < 0.9:
            return self.chance.choice(seen)
        return self._made(schema, name)

    def _made(self, schema: Schema, name: str) -> Json:
        if "$ref" in schema:
            return self.value(COMPONENTS[schema["$ref"].rpartition("/")[2]], name)
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                return self._made(self.chance.choice(schema[choice]), name)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.chance.choice(schema["enum"])
        match schema.get("type"):
            case "string":
                return self._text(schema)
            case "integer" | "number":
                low, high = schema.get("minimum", 0), schema.get("maximum", 2**53 - 1)
                return self.chance.choice((low, high, self.chance.randint(low, min(high, low + 300))))
            case "boolean":
                return self.chance.random() < 0.5
            case "null":
                return None
            case "array":
                count = self.chance.randint(schema.get("minItems", 0), max(schema.get("minItems", 0), 3))
                singular = name.removesuffix("s")
                return [self.value(schema.get("items", {}), singular) for _ in range(count)]
            case "object":
                return self._object(schema)
            case _:
                return self._awkward()

    def _awkward(self) -> Json:
        """A copy, since what is made is spoiled further in place."""
        return copy.deepcopy(self.chance.choice(AWKWARD_VALUES))

    def _object(self, schema: Schema) -> dict[str, Json]:
        required = schema.get("required", ())
        made = {
            name: self.value(member, name)
            for name, member in schema.get("properties", {}).items()
            if name in required or self.chance.random() < 0.5
        }
        further = schema.get("additionalProperties")
        if isinstance(further, dict):
            made |= {f"key{number}": self._made(further, "") for number in range(self.chance.randint(0, 2))}
        return made

    def _text(self, schema: Schema) -> str:
        if schema.get("contentEncoding") == "base64":
            return base64.b64encode(self.chance.randbytes(self.chance.randint(1, 60))).decode()
        if "pattern" in schema:
            return "".join(self.chance.choices("abcXYZ019._:-", k=self.chance.randint(1, 12)))
        text = self.chance.choice(("word", "two words", *AWKWARD_TEXTS))
        return text[: schema.get("maxLength", 200)] or "x" * schema.get("minLength", 0)

    # --- something wrong ----------------------------------------------------------------------------------------

    def spoiled(self, params: dict[str, Json]) -> dict[str, Json]:
        """The same with one or two things wrong, somewhere inside."""
        for _ in range(self.chance.randint(1, 2)):
            inside = params
            while True:
                nested = [value for value in inside.values() if isinstance(value, dict) and value]
                if not nested or self.chance.random() < 0.5:
                    break
                inside = self.chance.choice(nested)
            self._spoil(inside)
        return params

    def _spoil(self, inside: dict[str, Json]) -> None:
        name = self.chance.choice(list(inside) or ["absent"])
        match self.chance.randrange(4):
            case 0:
                inside.pop(name, None)
            case 1:
                inside[name] = self._awkward()
            case 2:
                inside[self.chance.choice(("unknown", "constructor", "__proto__", name.upper(), ""))] = 1
            case _:
                value = inside.get(name)
                inside[name] = [value] if self.chance.random() < 0.5 else {"value": value}
