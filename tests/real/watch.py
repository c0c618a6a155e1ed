"""What is written below a folder, and who runs there: events of inotify(7), and `/proc`."""

import ctypes
import os
import re
import select
import sqlite3
import struct
import threading
import time

MODIFY, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x2, 0x40, 0x80, 0x100, 0x200
WANTED = MODIFY | MOVED_FROM | MOVED_TO | CREATE | DELETE
IS_FOLDER = 0x40000000
HEAD = struct.Struct("iIII")
# A file of which more is not kept, in bytes.
MOST = 4 << 20
# Tables that are never read.
SECRETS = re.compile("account|credential|auth|token|secret")
DATABASE = re.compile(r"\.(db|sqlite)(-wal|-shm|-journal)?$")


class Files:
    """Notes every write below a folder, in order: when, and what the file held before and after."""

    def __init__(self, root, is_kept, left_out):
        self.root, self.is_kept, self.left_out = root, is_kept, left_out
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.folders, self.held = {}, {}
        # Each is {"t", "file"} and one of: "from" and "bytes" (added), "whole", "rows", "gone".
        self.writes = []
        # Files that were written and are not kept.
        self.others = set()
        # The tables of which a row was seen.
        self.made = set()
        self.dirty = {}
        self.lock = threading.Lock()
        self.began = time.time()
        self.last = 0.0
        self.stopped = threading.Event()
        self.add(root)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def stop(self):
        self.stopped.set()
        self.thread.join()
        os.close(self.descriptor)

    def now(self):
        return time.time() - self.began

    def quiet_for(self):
        return self.now() - self.last

    def hold(self, words):
        """Returns whether a file, or a row, holds these words."""
        for held in list(self.held.values()):
            found = words.encode() in held if isinstance(held, bytes) else words in str(held)
            if found:
                return True
        return False

    def add(self, folder):
        number = self.libc.inotify_add_watch(self.descriptor, os.fsencode(folder), WANTED)
        if number < 0:
            return
        self.folders[number] = folder
        # What came before the watch.
        try:
            entries = list(os.scandir(folder))
        except OSError:
            return
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                self.add(entry.path)
            else:
                self.look(entry.path)

    def run(self):
        while not self.stopped.is_set():
            ready, _, _ = select.select([self.descriptor], [], [], 0.02)
            touched = []
            while ready:
                try:
                    events = os.read(self.descriptor, 1 << 16)
                except BlockingIOError:
                    break
                touched += self.named(events)
            for path in dict.fromkeys(touched):
                self.look(path)
            for path, at in list(self.dirty.items()):
                if self.now() - at > 0.03:
                    del self.dirty[path]
                    self.look_at_rows(path)

    def named(self, events):
        at = 0
        while at < len(events):
            number, mask, _, length = HEAD.unpack_from(events, at)
            name = events[at + HEAD.size : at + HEAD.size + length].rstrip(b"\0").decode(errors="replace")
            at += HEAD.size + length
            folder = self.folders.get(number)
            if not folder or not name:
                continue
            path = os.path.join(folder, name)
            if mask & IS_FOLDER:
                if mask & (CREATE | MOVED_TO):
                    self.add(path)
            else:
                yield path

    def look(self, path):
        name = os.path.relpath(path, self.root)
        if DATABASE.search(name):
            base = re.sub(r"-(wal|shm|journal)$", "", path)
            if self.is_kept(os.path.relpath(base, self.root)):
                self.dirty.setdefault(base, self.now())
            else:
                self.others.add(os.path.relpath(base, self.root))
            return
        if not self.is_kept(name):
            self.others.add(name)
            return
        before = self.held.get(name)
        try:
            if os.path.islink(path) or not os.path.isfile(path):
                return
            with open(path, "rb") as file:
                now = file.read(MOST)
        except FileNotFoundError:
            if before is not None:
                del self.held[name]
                self.note(file=name, gone=True)
            return
        except OSError:
            return
        if before == now:
            return
        self.held[name] = now
        if before is not None and now.startswith(before):
            self.note(**{"file": name, "from": len(before), "bytes": now[len(before) :]})
        else:
            self.note(file=name, whole=now)

    def look_at_rows(self, path):
        name = os.path.relpath(path, self.root)
        tables = self.held.setdefault(name, {})
        changed, made = {}, {}
        try:
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1) as database:
                found = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
                for table, sql in found:
                    is_odd = table.startswith(("sqlite_", "_")) or "VIRTUAL" in (sql or "") or "_fts" in table
                    if is_odd or table in self.left_out or SECRETS.search(table):
                        continue
                    self.rows_of(database, table, tables.setdefault(table, {}), changed)
                    if table in changed and (name, table) not in self.made:
                        self.made.add((name, table))
                        made[table] = sql
        except sqlite3.Error:
            # It is being written: once more in a moment.
            self.dirty[path] = self.now()
        if changed:
            self.note(file=name, tables=made, rows=changed)

    def rows_of(self, database, table, known, changed):
        try:
            cursor = database.execute(f'SELECT rowid AS claimtop_row, * FROM "{table}" ORDER BY rowid LIMIT 400')
        except sqlite3.OperationalError:
            cursor = database.execute(f'SELECT * FROM "{table}" LIMIT 400')
        columns = [column[0] for column in cursor.description]
        seen = set()
        for row in cursor.fetchall():
            key = row[0]
            seen.add(key)
            row = tuple("x" if isinstance(cell, bytes) else cell for cell in row)
            before = known.get(key)
            if before != row:
                known[key] = row
                # Of a row that was there only what has changed.
                is_told = lambda at: at == 0 or not before or before[at] != row[at]
                cells = {column: row[at] for at, column in enumerate(columns) if is_told(at)}
                changed.setdefault(table, []).append(cells)
        for key in set(known) - seen:
            del known[key]
            changed.setdefault(table, []).append({"claimtop_row": key, "claimtop_gone": True})

    def note(self, **what):
        with self.lock:
            self.last = self.now()
            self.writes.append({"t": self.last, **what})


def facts(pid):
    """Reads a process: what `/proc/PID` says of it (proc(5)); None where it has gone."""
    base = f"/proc/{pid}"
    try:
        with open(f"{base}/stat", "rb") as file:
            stat = file.read().decode(errors="replace")
        head, rest = stat.rsplit(")", 1)
        fields = rest.split()
        with open(f"{base}/cmdline", "rb") as file:
            argv = file.read().decode(errors="replace").rstrip("\0").split("\0")
        link = lambda name: os.readlink(f"{base}/{name}")
        found = {"pid": pid, "parent": int(fields[1]), "state": fields[0], "group": int(fields[2])}
        found |= {"session": int(fields[3]), "start": int(fields[19]), "comm": head.split("(", 1)[1]}
        device = int(fields[4])
        found["tty"] = f"pts/{device & 0xFF | device >> 12 & 0xFFF00}" if device >> 8 & 0xFFF == 136 else None
        return found | {"argv": argv, "exe": link("exe"), "cwd": link("cwd")}
    except (OSError, IndexError, ValueError):
        return None


class Processes:
    """Knows whoever descends from the scene's terminals, or runs or works in its folders, and for how long."""

    def __init__(self, folders, clock):
        self.folders, self.clock = folders, clock
        self.strangers = set()
        # Each is what was read, with "from" and "until", in seconds; a process that changes has several.
        self.spans, self.current = [], {}
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def stop(self):
        self.stopped.set()
        self.thread.join()

    def run(self):
        while not self.stopped.wait(0.05):
            self.now()

    def now(self):
        with self.lock:
            found, at = self.look(), self.clock()
            same = lambda one, other: all(one[key] == other[key] for key in one if key not in ("state", "from"))
            for pid, span in list(self.current.items()):
                if pid not in found or not same(found[pid], span):
                    span["until"] = at
                    del self.current[pid]
            for pid, known in found.items():
                if pid not in self.current:
                    self.current[pid] = known | {"from": at}
                    self.spans.append(self.current[pid])
            return [found[pid] for pid in sorted(found)]

    def look(self):
        listed = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        self.strangers &= listed
        found = {pid: known for pid in listed - self.strangers if (known := facts(pid))}
        ours = {pid for pid, known in found.items() if self.is_here(known)}
        grows = True
        while grows:
            more = {pid for pid, known in found.items() if known["parent"] in ours} - ours
            ours |= more
            grows = bool(more)
        # What has begun just now may still become somebody of the scene's.
        self.strangers |= {pid for pid in set(found) - ours if pid in self.seen_before(found)}
        return {pid: found[pid] for pid in ours}

    def seen_before(self, found):
        before, self.before = getattr(self, "before", set()), set(found)
        return before

    def is_here(self, known):
        return any(known[where].startswith(folder) for folder in self.folders for where in ("exe", "cwd"))
