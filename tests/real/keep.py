"""Makes of what was seen a recording without names, secrets and bulk, in which each line keeps its shape."""

import json
import os
import re
import socket

# Longer texts are cut, and longer lists: files, lists of files. What calls are given is needed whole.
MOST_TEXT, KEPT_TEXT, MOST_ITEMS, KEPT_ITEMS = 160, 40, 12, 3
WHOLE = {"input", "arguments", "command", "cmd", "patch", "unified_diff"}
MOST_WHOLE = 2_000
# What agents tell their models: nothing of it but its shape is of use.
BULK = re.compile(r"^(system(_?prompt)?|tools|tool_?specs|input_schema|parameters|(base_|user_)?instructions|skills|snapshot_?text|body|shape)$|[a-z]Instructions$", re.I)
SECRET = re.compile(r"(token|nonce|secret|api_?key|password|credential|cookie|signature|encrypted|device_?id|installation)$|^auth|(_a|A)uth(?!or)", re.I)
SECRET_ID = re.compile(r"(?i)(tokens|tokenCount)$")
FIRST_PID = 4_194_001
INITIAL_PID_NAMESPACE = 0xEFFFFFFC


def read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


class Cleaner:
    """Replaces what tells of this machine, and cuts what is long."""

    def __init__(self, stage):
        slug = lambda path: re.sub(r"[^A-Za-z0-9]", "-", path)
        namespace = os.stat("/proc/self/ns/pid").st_ino
        pairs = [(stage.root, "/home"), (slug(stage.root), "-home"), (os.path.basename(stage.root), "home")]
        pairs += [(stage.installed, f"/opt/{stage.agent.name}"), (read("/etc/machine-id"), "0" * 32)]
        pairs += [(slug(stage.installed), f"-opt-{stage.agent.name}")]
        pairs += [(os.uname().release, os.uname().release.split("-")[0] + "-generic")]
        pairs += [(read("/proc/sys/kernel/random/boot_id"), "00000000-0000-4000-8000-000000000000")]
        pairs += [(f"pid:[{namespace}]", f"pid:[{INITIAL_PID_NAMESPACE}]"), (stage.stub.address, "http://127.0.0.1:9")]
        host = socket.gethostname()
        self.pairs = [(old, new) for old, new in pairs if old]
        self.host = re.compile(rf"\b{re.escape(host)}\b") if len(host) > 3 else re.compile("(?!)")
        self.namespace = namespace
        self.pids = {}

    def pid(self, number):
        """Returns a number that processes hardly ever get (`pid_max` of proc(5)), the same for the same process."""
        return self.pids.setdefault(number, FIRST_PID + len(self.pids)) if number > 1 else number

    def text(self, text):
        for old, new in self.pairs:
            text = text.replace(old, new)
        return self.host.sub("machine", text)

    def path(self, path):
        number = lambda found: str(self.pid(int(found[0]))) if int(found[0]) in self.pids else found[0]
        return self.text(re.sub(r"(?<=[/.])[0-9]+(?=\.(json|hold)$)", number, path))

    def string(self, text, most=MOST_TEXT):
        number = lambda found: str(self.pids.get(int(found[0]), found[0]))
        text = re.sub(r"(?<=[/ (:])[0-9]{2,7}(?=\.sock|\)|:[0-9a-f]{8}-)", number, self.text(text))
        return text if len(text) <= most else text[: min(KEPT_TEXT, most)] + " [cut]"

    def value(self, value, key="", bulk=False):
        bulk = bulk or bool(BULK.search(key))
        if SECRET.search(key) and not SECRET_ID.search(key):
            if isinstance(value, str):
                return "x"
            if isinstance(value, dict):
                return {name: self.value(inner, "auth") for name, inner in value.items()}
        if isinstance(value, str):
            most = 24 if bulk else MOST_WHOLE if key in WHOLE else MOST_TEXT
            return self.embedded(value) or self.string(value, most)
        if isinstance(value, dict):
            inner = list(value.items())[: 6 if bulk else None]
            return {self.string(name): self.value(one, name, bulk) for name, one in inner}
        if isinstance(value, list):
            kept = value[:1] if bulk else value if len(value) <= MOST_ITEMS else value[:KEPT_ITEMS]
            return [self.value(one, key if key in WHOLE else "", bulk) for one in kept]
        is_pid = isinstance(value, int) and not isinstance(value, bool) and re.search(r"(^|_|[a-z])[pP](id|ID)$|^[pP]id$", key)
        return self.pid(value) if is_pid else value

    def embedded(self, text):
        """Cleans JSON that lies in a text, such as a call's arguments, so that it stays JSON."""
        if text[:1] not in "{[" or len(text) < 2:
            return None
        try:
            return json.dumps(self.value(json.loads(text)), ensure_ascii=False, separators=(",", ":"))
        except ValueError:
            return None

    def line(self, line):
        """Cleans one line; what is no JSON is text."""
        try:
            value = json.loads(line)
        except ValueError:
            return self.string(line)
        if isinstance(value, (dict, list)):
            return json.dumps(self.value(value), ensure_ascii=False, separators=(",", ":"))
        return self.string(line)

    def lines(self, raw):
        """Cleans whole lines, and a torn end as far as it goes."""
        text = raw.decode(errors="replace")
        try:
            value = json.loads(text)
            return json.dumps(self.value(value), ensure_ascii=False, separators=(",", ":")) + ("\n" if text.endswith("\n") else "")
        except ValueError:
            return "".join(self.line(line[:-1]) + "\n" if line.endswith("\n") else self.line(line) for line in text.splitlines(keepends=True))


def appended(cleaner, raw):
    """Cleans a file that only grew; returns it, and where each place of the old one lies in the new."""
    out, ends = bytearray(), [(0, 0)]
    at = 0
    for line in raw.splitlines(keepends=True):
        body = line.rstrip(b"\n").decode(errors="replace")
        cleaned = cleaner.line(body) if body else ""
        out += cleaned.encode() + line[len(line.rstrip(b"\n")) :]
        at += len(line)
        ends.append((at, len(out)))

    def place(offset):
        for (old, new), (next_old, next_new) in zip(ends, ends[1:]):
            if old <= offset < next_old:
                return min(new + offset - old, next_new - 1)
        return ends[-1][1]

    return bytes(out), place


def writes_of(cleaner, writes):
    """Returns the files in their final state, and the writes, by the cleaned names and places."""
    wholes = {}
    for write in writes:
        if "whole" in write:
            wholes.setdefault(write["file"], []).append(write)
    grown, files = {}, {}
    for write in writes:
        name = write["file"]
        # A file that was also written over is told whole, each time.
        only_grew = len(wholes.get(name, [])) == 1 and name.endswith(".jsonl")
        if only_grew and ("whole" in write or "bytes" in write):
            grown[name] = grown.get(name, b"") + (write.get("whole") or write.get("bytes") or b"")
    places = {}
    for name, raw in grown.items():
        files[cleaner.path(name)], places[name] = appended(cleaner, raw)
    told, held, last = [], {}, {}
    for write in writes:
        name, path = write["file"], cleaner.path(write["file"])
        one = {"t": round(write["t"], 3), "file": path}
        if "rows" in write:
            rows = {table: [{key: cleaner.value(cell, key) for key, cell in row.items()} for row in rows] for table, rows in write["rows"].items()}
            told.append(one | {"tables": write["tables"], "rows": rows})
            continue
        if write.get("gone"):
            held.pop(name, None)
            files.pop(path, None) if name not in places else None
            told.append(one | {"gone": True})
            continue
        before = b"" if "whole" in write else held.get(name, b"")
        held[name] = before + (write.get("whole") or write.get("bytes") or b"")
        if name in places:
            begin, end = places[name](len(before)), places[name](len(held[name]))
            told.append(one | {"offset": begin, "length": end - begin})
            continue
        text = cleaner.lines(held[name])
        if last.get(name) == text:
            continue
        last[name] = text
        files[path] = text.encode()
        told.append(one | {"text": text})
    return files, told


def keep(stage, scene, folder):
    """Writes a scene's recording."""
    cleaner = Cleaner(stage)
    # What came after is not known to be true of anything.
    end = stage.marks[-1]["t"]
    spans = []
    for span in stage.processes.spans:
        lasted = span.get("until", stage.files.now()) - span["from"]
        if span["from"] <= end and (lasted > 0.3 or stage.agent.is_agent(span)):
            spans.append(span)
    for window in stage.windows.values():
        if window.pid:
            cleaner.pid(window.pid)
    for span in sorted(spans, key=lambda span: span["from"]):
        cleaner.pid(span["pid"])
    files, writes = writes_of(cleaner, [write for write in stage.files.writes if write["t"] <= end])
    processes = []
    for span in spans:
        one = {key: span[key] for key in ("comm", "tty", "start")} | {key: cleaner.pid(span[key]) for key in ("pid", "group", "session")}
        # Whoever is above the terminals is none of the scene's.
        one["parent"] = cleaner.pids.get(span["parent"], 1)
        one["argv"] = [cleaner.string(word) for word in span["argv"]]
        one |= {"exe": exe_of(cleaner, span["exe"]), "cwd": cleaner.text(span["cwd"]), "from": round(span["from"], 3)}
        if "until" in span:
            one["until"] = round(span["until"], 3)
        processes.append(one)
    up = time_up()
    host = {"began": stage.files.began, "booted": stage.files.began + stage.files.now() - up, "ticks": os.sysconf("SC_CLK_TCK")}
    marks = []
    for mark in stage.marks:
        windows = {name: cleaner.value(truth) for name, truth in mark["windows"].items()}
        marks.append({"name": mark["name"], "t": round(mark["t"], 3), "windows": windows})
    truth = {"agent": stage.agent.name, "version": stage.agent.version(stage.installed), "scene": scene}
    truth |= {"root": "/home", "files": sorted(cleaner.text(path) for path in stage.made), "marks": marks}
    os.makedirs(f"{folder}/files", exist_ok=True)
    for path, content in files.items():
        os.makedirs(os.path.dirname(f"{folder}/files/{path}"), exist_ok=True)
        with open(f"{folder}/files/{path}", "wb") as file:
            file.write(content)
    write_lines(f"{folder}/writes.jsonl", writes)
    write_lines(f"{folder}/processes.jsonl", [host, *processes])
    with open(f"{folder}/truth.json", "w") as file:
        json.dump(truth, file, indent=1, ensure_ascii=False)
        file.write("\n")
    return cleaner


def exe_of(cleaner, path):
    """Returns where a program lies: an agent's own in its package, any other in `/usr/bin`."""
    cleaned = cleaner.text(path)
    return cleaned if cleaned != path else f"/usr/bin/{os.path.basename(path)}"


def time_up():
    return float(read("/proc/uptime").split()[0])


def write_lines(path, values):
    with open(path, "w") as file:
        for value in values:
            file.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
