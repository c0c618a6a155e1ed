"""One scene's stage: a home, a model, terminals, and the marks at which the truth is known."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from stub import Stub, over, text
from watch import Files, Processes


# What each file of a repository holds at first.
CONTENT = "one\ntwo\nthree\n"


class Stuck(Exception):
    """An agent did not get where a scene needs it."""


class Window:
    """An agent in a terminal, as the scene knows it."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.pid = self.session = self.asked = None
        self.truth = {"state": "your-turn", "asks": None, "about": None, "edits": [], "prompt": None, "agents": 0}


class Stage:
    """Sets up, drives, and takes down."""

    def __init__(self, agent, installed):
        self.agent, self.installed = agent, os.path.realpath(installed)
        self.root = tempfile.mkdtemp(prefix="claimtop-real-")
        self.home = f"{self.root}/dev"
        self.work = f"{self.home}/work"
        self.tmp = f"{self.root}/tmp"
        for folder in (self.home, self.work, self.tmp):
            os.makedirs(folder)
        self.stub = Stub()
        self.windows, self.marks, self.made = {}, [], set()
        self.socket = os.path.basename(self.root)
        self.files = self.processes = None

    # Setting up and taking down.

    def __enter__(self):
        self.agent.prepare(self)
        self.files = Files(self.home, self.agent.is_kept, self.agent.left_out)
        self.processes = Processes([self.root], self.files.now)
        return self

    def __exit__(self, *_):
        try:
            self.tmux("kill-server")
        except subprocess.CalledProcessError:
            pass
        for attempt in range(20):
            left = [known["pid"] for known in self.processes.now() if known["pid"] != os.getpid()]
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL if attempt > 2 else signal.SIGTERM)
                except ProcessLookupError:
                    pass
            if not left:
                break
            time.sleep(0.3)
        self.processes.stop()
        self.files.stop()
        self.stub.close()

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def repository(self, name="shop"):
        """Makes a repository with files in its top folder and below, and returns where it is."""
        folder = f"{self.work}/{name}"
        for path in ("a.txt", "b.txt", "src/cart.rs", "src/pay.rs", "src/deep/er/tax.rs"):
            os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
            with open(f"{folder}/{path}", "w") as file:
                file.write(CONTENT)
        run = lambda *words: subprocess.run(["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@x", *words], check=True, capture_output=True)
        run("init", "-q", "-b", "main")
        run("add", "-A")
        run("commit", "-qm", "first")
        self.agent.trust(self, folder)
        return folder

    def write_home(self, path, content):
        path = f"{self.home}/{path}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))

    # Terminals.

    def tmux(self, *words):
        environment = {"PATH": os.environ["PATH"], "TMUX_TMPDIR": self.tmp, "HOME": self.home, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        run = subprocess.run(["tmux", "-L", self.socket, *words], cwd=self.root, env=environment, check=True, capture_output=True)
        return run.stdout.decode(errors="replace")

    def environment(self):
        own = {"HOME": self.home, "TMPDIR": self.tmp, "TERM": "tmux-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "TZ": "UTC"}
        own |= {"USER": "dev", "LOGNAME": "dev", "SHELL": "/bin/bash", "GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@x"}
        own |= {"PATH": f"{self.installed}/node_modules/.bin:/usr/local/bin:/usr/bin:/bin", "PS1": "ready$ "}
        return own | self.agent.environment(self)

    def open(self, name, folder, *arguments, ready=None, command=None, fresh=True):
        """Starts an agent in a terminal of its own, and waits until it can be told something."""
        window = self.windows[name] = Window(name, folder)
        self.shell(name, folder)
        self.type(name, " ".join([command or self.agent.command, *(arguments or self.agent.usual)]))
        self.press(name, "Enter")
        if fresh:
            self.agent.wait_ready(self, window, ready)
            window.pid = self.pid_of(name)
        return window

    def add(self, name, folder, pid):
        """Notes a window that no terminal of the scene has started."""
        window = self.windows[name] = Window(name, folder)
        window.pid = pid
        return window

    def shell(self, name, folder):
        """Opens a terminal with a shell in it."""
        shell = " ".join(f"{key}='{value}'" for key, value in self.environment().items())
        shell = f"exec env -i {shell} TMUX=$TMUX TMUX_PANE=$TMUX_PANE bash --norc --noprofile -i"
        try:
            self.tmux("has-session", "-t", "m")
            self.tmux("new-window", "-d", "-t", "m:", "-n", name, "-c", folder, shell)
        except subprocess.CalledProcessError:
            self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "m", "-n", name, "-x", "150", "-y", "45", "-c", folder, shell)
        self.wait_screen(name, r"ready\$")

    def kill(self, name):
        """Kills a window's process, as the kernel does when memory runs out."""
        os.kill(self.windows[name].pid, signal.SIGKILL)
        self.wait(lambda: all(known["pid"] != self.windows[name].pid for known in self.processes.now()), "its end")

    def pane_pid(self, name):
        return int(self.tmux("list-panes", "-t", f"m:{name}", "-F", "#{pane_pid}").split()[0])

    def pid_of(self, name):
        """Returns the agent below a terminal's shell: the last of a chain that starts itself again."""
        top, found = self.pane_pid(name), self.processes.now()
        below = lambda pid: [known for known in found if known["parent"] == pid and self.agent.is_agent(known)]
        chain = below(top)
        pid = None
        while chain:
            pid = chain[0]["pid"]
            chain = below(pid) if self.agent.starts_itself_again else []
        return pid

    def type(self, name, words):
        self.tmux("send-keys", "-t", f"m:{name}", "-l", words)

    def press(self, name, *keys):
        self.tmux("send-keys", "-t", f"m:{name}", *keys)

    def say(self, name, words):
        """Gives a prompt, as a person types it."""
        self.windows[name].truth["prompt"] = words
        play = words.removeprefix("PLAY ")
        asked = self.stub.times_asked(play)
        self.type(name, words)
        # A program that is busy drawing takes no key for a moment.
        for _ in range(5):
            time.sleep(0.6)
            self.press(name, "Enter")
            until = time.time() + 5
            while time.time() < until:
                if self.stub.times_asked(play) > asked:
                    return
                time.sleep(0.05)
        raise Stuck(f"{name} never asked for {play!r}\n{self.screen(name)}")

    def command(self, name, words):
        """Gives a command of the agent's own, such as `/clear`."""
        self.type(name, words)
        time.sleep(0.8)
        self.press(name, "Enter")
        time.sleep(1)

    def screen(self, name):
        return self.tmux("capture-pane", "-p", "-t", f"m:{name}")

    def wait_screen(self, name, pattern, patience=40):
        return self.wait(lambda: re.search(pattern, self.screen(name)), f"{pattern!r} on the screen of {name}", patience)

    def wait_gone(self, name, pattern, patience=40):
        return self.wait(lambda: not re.search(pattern, self.screen(name)), f"no {pattern!r} on the screen of {name}", patience)

    def wait(self, condition, what, patience=40):
        until = time.time() + patience
        while time.time() < until:
            found = condition()
            if found:
                return found
            time.sleep(0.1)
        shown = "\n".join(f"--- {name}\n{self.screen(name).rstrip()}" for name in self.windows)
        raise Stuck(f"there never was {what}\n{shown}")

    def held(self, hold):
        """Waits until the model was asked for the answer that waits under this name."""
        self.wait(self.stub.reached[hold].is_set, f"a request for what waits for {hold!r}", 20)

    def wait_asked(self, play, times):
        """Waits until the model was asked so often for the steps of one name."""
        self.wait(lambda: self.stub.times_asked(play) >= times, f"request {times} for {play!r}", 60)
        steps = self.stub.plans[play]
        if times >= len(steps) and text(over(play)) in steps[-1].blocks:
            self.wait(lambda: self.files.hold(over(play)), f"the end of {play!r} in a file", 30)

    def quiet(self, seconds=1, patience=8):
        """Waits until nothing was written for a while, beginning now."""
        until = time.time() + patience
        time.sleep(seconds)
        while self.files.quiet_for() < seconds and time.time() < until:
            time.sleep(0.05)

    # The truth.

    def mark(self, name, **truths):
        """Notes what is true of each window once nothing more is written; `truths` changes what was before."""
        self.quiet()
        for window, more in truths.items():
            self.windows[window].truth.update(more)
        at = self.files.now()
        told, living = {}, {known["pid"] for known in self.processes.now()}
        for window in self.windows.values():
            told[window.name] = {**json.loads(json.dumps(window.truth)), "pid": window.pid, "cwd": window.folder, "alive": window.pid in living}
            told[window.name]["session"] = window.truth.get("session") or self.session(window)
        self.marks.append({"name": name, "t": at, "now": time.time(), "windows": told})

    def has_changed(self, path):
        try:
            with open(path) as file:
                return file.read() != CONTENT
        except FileNotFoundError:
            return False

    def session(self, window):
        """Returns the session that was asked with the window's last prompt: a fork repeats it later."""
        prompt = window.truth["prompt"]
        if prompt and window.asked != prompt:
            window.asked, window.session = prompt, self.agent.session(self, window)
        return window.session if prompt else None

    def edited(self, name, *paths):
        """Notes that a window has edited these files, as far as they are no longer what they were: an agent may refuse."""
        edits = self.windows[name].truth["edits"]
        paths = [path for path in paths if self.has_changed(path)]
        edits += [path for path in paths if path not in edits]
        self.made.update(paths)
