"""Hands lines on between a claimtop and the machine that it has reached, and breaks off where it is told to."""

import os
import subprocess
import sys
import threading

CUTS = sys.argv[1]
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
lock = threading.Lock()


def is_due(direction, line):
    """Takes the first cut, if it is about this line: says whether to break before or after it, or what to run."""
    with lock:
        try:
            with open(CUTS) as file:
                cuts = [cut.split() for cut in file.read().splitlines()]
        except FileNotFoundError:
            return None
        if not cuts or cuts[0][:2] != [direction, line[2:].split(b'"')[0].decode(errors="replace")]:
            return None
        with open(CUTS, "w") as file:
            file.write("\n".join(" ".join(cut) for cut in cuts[1:]))
        return cuts[0][2]


def hand_on(direction, source, target):
    for line in source:
        cut = is_due(direction, line)
        if cut == "before":
            os._exit(1)
        if cut == "run":
            subprocess.run(["sh", CUTS + ".sh"], check=True)
        try:
            target.write(line)
            target.flush()
        except OSError:
            break
        if cut == "after":
            os._exit(1)
    if direction == "up":
        child.stdin.close()
    else:
        os._exit(child.wait())


threading.Thread(target=hand_on, args=("up", sys.stdin.buffer, child.stdin), daemon=True).start()
hand_on("down", child.stdout, sys.stdout.buffer)
