"""Plays a machine that means harm: what it says is in a file of lines, and what it hears is written down."""

import json
import sys
import threading

SAYS, HEARS = sys.argv[1], sys.argv[2]


def hear():
    with open(HEARS, "a") as log:
        for line in sys.stdin:
            log.write(line)
            log.flush()
            said = json.loads(line)
            if "beat" in said:
                print(line, end="", flush=True)
            if "ask" in said:
                # Another plan than the one that was asked for, and more than one.
                print(json.dumps({"plans": {"number": said["ask"]["number"] + 1, "is": []}}), flush=True)


with open(SAYS) as file:
    sys.stdout.write(file.read())
    sys.stdout.flush()
if "--again" in sys.argv:
    sys.exit(1)
if "--flood" in sys.argv:
    while True:
        sys.stdout.write('{"look":{"at":"2026-11-24T00:00:00Z"}}\n' * 1000)
thread = threading.Thread(target=hear)
thread.start()
thread.join()
