"""What SARIF 2.1.0 asks of the objects that shapedoc writes, as a JSON schema; no other property may stand there.

Written from the standard's text (the section is named beside each object), for the part that is used.
"""

from __future__ import annotations

__all__ = ["SARIF"]

_TEXT = {"type": "string", "minLength": 1}
_POSITION = {"type": "integer", "minimum": 1}
_BAG = {"type": "object", "properties": {"tags": {"type": "array", "uniqueItems": True, "items": {"type": "string"}}}}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}


def _object(required: str, **properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required.split(),
        "properties": properties,
    }


def _array(of: str, least: int = 0, unique: bool = False) -> dict[str, object]:
    return {"type": "array", "minItems": least, "uniqueItems": unique, "items": {"$ref": f"#/$defs/{of}"}}


_MESSAGE = {"$ref": "#/$defs/message"}
_ARTIFACT_LOCATION = {"$ref": "#/$defs/artifactLocation"}
_REGION = {"$ref": "#/$defs/region"}

_DEFINITIONS = {
    # 3.11, 3.12
    "message": _object("text", text=_TEXT),
    "multiformat": _object("text", text=_TEXT, markdown=_TEXT),
    # 3.4: a relative reference has a base; 3.10.1: RFC 3986 characters only
    "artifactLocation": {
        **_object(
            "uri",
            uri={"type": "string", "pattern": r"^(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})+$"},
            uriBaseId={"const": "%SRCROOT%"},
        ),
        "if": {"properties": {"uri": {"pattern": "^file:"}}},
        "then": {"properties": {"uriBaseId": False}},
        "else": {"required": ["uriBaseId"], "properties": {"uri": {"not": {"pattern": r"^/|(^|/)\.\.(/|$)|^[^/]*:"}}}},
    },
    # 3.30
    "region": _object("startLine", startLine=_POSITION, startColumn=_POSITION, endLine=_POSITION, endColumn=_POSITION),
    # 3.29, 3.33, 3.28
    "physicalLocation": _object("artifactLocation", artifactLocation=_ARTIFACT_LOCATION, region=_REGION),
    "logicalLocation": _object("fullyQualifiedName", fullyQualifiedName=_TEXT, kind={"const": "function"}),
    "location": _object(
        "physicalLocation",
        id={"type": "integer", "minimum": 0},
        physicalLocation={"$ref": "#/$defs/physicalLocation"},
        logicalLocations=_array("logicalLocation", unique=True),
        message=_MESSAGE,
    ),
    # 3.55, 3.56, 3.57
    "replacement": _object(
        "deletedRegion", deletedRegion=_REGION, insertedContent=_object("text", text={"type": "string"})
    ),
    "artifactChange": _object(
        "artifactLocation replacements",
        artifactLocation=_ARTIFACT_LOCATION,
        replacements=_array("replacement", least=1),
    ),
    "fix": _object(
        "artifactChanges",
        description=_MESSAGE,
        artifactChanges=_array("artifactChange", least=1, unique=True),
        properties=_BAG,
    ),
    # 3.27
    "result": _object(
        "ruleId ruleIndex level message locations partialFingerprints",
        ruleId=_TEXT,
        ruleIndex={"type": "integer", "minimum": 0},
        level=_LEVEL,
        message=_MESSAGE,
        locations=_array("location", least=1),
        relatedLocations=_array("location", unique=True),
        partialFingerprints={"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}},
        fixes=_array("fix", unique=True),
        properties=_BAG,
    ),
    # 3.49
    "rule": _object(
        "id",
        id=_TEXT,
        name=_TEXT,
        shortDescription={"$ref": "#/$defs/multiformat"},
        fullDescription={"$ref": "#/$defs/multiformat"},
        help={"$ref": "#/$defs/multiformat"},
        defaultConfiguration=_object("level", level=_LEVEL),
        properties=_BAG,
    ),
    # 3.58, 3.20
    "notification": _object("message", level=_LEVEL, message=_MESSAGE, locations=_array("location", unique=True)),
    "invocation": _object(
        "executionSuccessful",
        executionSuccessful={"type": "boolean"},
        toolExecutionNotifications=_array("notification"),
    ),
    # 3.14, 3.18, 3.19
    "run": _object(
        "tool columnKind results",
        tool=_object("driver", driver=_object("name", name=_TEXT, version=_TEXT, rules=_array("rule", unique=True))),
        invocations=_array("invocation"),
        columnKind={"const": "unicodeCodePoints"},
        results=_array("result"),
        properties=_BAG,
    ),
}

# 3.13
SARIF = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_object(
        "version runs",
        **{
            "$schema": {"type": "string", "format": "uri"},
            "version": {"const": "2.1.0"},
            "runs": _array("run", least=1),
        },
    ),
    "$defs": _DEFINITIONS,
}
