"""The shape of a recording: which files there are, which lines and keys they have, and in which order they come."""

import json
import os
import re

ID = re.compile(r"call_[0-9a-z]+|ses_[A-Za-z0-9]+|[0-9a-f]{8}-[0-9a-f-]{27}|(?<=[-/.])[0-9a-f]{8,}(?=[./-]|$)|[0-9]+|wf_[a-z0-9-]+|agent-[0-9a-f]+")
# Keys below these are names of the scene's own, or of what a person has set.
OPEN = re.compile(r"^(trackedFileBackups|changes|fileStates|answers|input|arguments|args|properties|workers|env|features?|flags)$")
DEPTH = 4


def keys_of(value, at="", depth=0):
    """Returns the paths of all keys."""
    found = set()
    if isinstance(value, dict):
        for key, inner in value.items():
            key = ID.sub("#", key)
            found.add(f"{at}.{key}")
            if depth < DEPTH and not OPEN.match(key):
                found |= keys_of(inner, f"{at}.{key}", depth + 1)
    elif isinstance(value, list):
        for inner in value:
            found |= keys_of(inner, at + "[]", depth)
    return found


def kind_of(line):
    """Returns what sort of line it is."""
    inner = next((line[name] for name in ("payload", "attachment", "uiEvent") if isinstance(line.get(name), dict)), {})
    item = inner.get("item") if isinstance(inner.get("item"), dict) else {}
    parts = [line.get("type"), line.get("subtype"), inner.get("type"), item.get("type")]
    return "/".join(part for part in parts if isinstance(part, str)) or "line"


def of_text(text, name, shape):
    for line in [text] if name.endswith(".json") else text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            shape.setdefault(f"{name} {kind_of(value)}", set()).update(keys_of(value))
        elif isinstance(value, list):
            shape.setdefault(name, set()).update(keys_of(value))


def shape_of(folder):
    """Returns the keys of each sort of line in each sort of file, and the sorts of files in the order they came."""
    shape, order = {}, []
    with open(f"{folder}/writes.jsonl") as file:
        for line in file:
            write = json.loads(line)
            name = ID.sub("#", write["file"])
            if name not in order:
                order.append(name)
            shape.setdefault(name, set())
            if "text" in write:
                of_text(write["text"], name, shape)
            for table, rows in write.get("rows", {}).items():
                shape.setdefault(f"{name} {table}", set()).update(key for row in rows for key in row)
    for at, _, names in os.walk(f"{folder}/files"):
        for name in names:
            path = os.path.join(at, name)
            with open(path, errors="replace") as file:
                of_text(file.read(), ID.sub("#", os.path.relpath(path, f"{folder}/files")), shape)
    return shape, order


def differences(old, new):
    """Returns in words how the shape of a new recording differs from that of an old one."""
    (before, came), (now, comes) = shape_of(old), shape_of(new)
    told = [f"no longer there: {name}" for name in sorted(set(before) - set(now))]
    told += [f"new: {name}" for name in sorted(set(now) - set(before))]
    for name in sorted(set(before) & set(now)):
        for word, keys in (("without", before[name] - now[name]), ("with the new", now[name] - before[name])):
            if keys:
                told.append(f"{name}: {word} {' '.join(sorted(keys))}")
    both = [name for name in came if name in comes]
    if both != [name for name in comes if name in came]:
        told.append(f"in another order: {', '.join(comes)}")
    return told
