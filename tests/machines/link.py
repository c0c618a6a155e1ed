"""A link of TCP between a client and a server that is as bad as a file says: `pass`, `stop` (whatever is sent vanishes),
`late SECONDS` each way, `lossy PERCENT`.

What is lost on the way TCP sends again after a while; whoever uses it sees a stall of all that comes after it. That is what
`lossy` makes: of so many pieces in a hundred each waits for a retransmission timeout of 0.2 s, or more than one.
"""

import os
import random
import socket
import sys
import threading
import time

STATE, PORT, TARGET = sys.argv[1], sys.argv[2], int(sys.argv[3])
dice = random.Random(7)


def state():
    with open(STATE) as file:
        words = file.read().split() or ["pass"]
    return words[0], float(words[1]) if len(words) > 1 else 0.0


def wait_while_stopped():
    while state()[0] == "stop":
        time.sleep(0.02)


def delay():
    how, much = state()
    if how == "late":
        return much
    stall = 0.0
    while how == "lossy" and dice.random() * 100 < much:
        stall += 0.2
    return stall


def hand_on(source, target):
    # A reader and a writer, so that what is late delays nothing but itself.
    queue, ready = [], threading.Condition()

    def write():
        due = 0.0
        while True:
            with ready:
                while not queue:
                    ready.wait()
                at, piece = queue.pop(0)
            due = max(due, at)
            time.sleep(max(0.0, due - time.monotonic()))
            wait_while_stopped()
            try:
                if not piece:
                    return target.shutdown(socket.SHUT_WR)
                target.sendall(piece)
            except OSError:
                return None

    threading.Thread(target=write, daemon=True).start()
    while True:
        try:
            piece = source.recv(1400)
        except OSError:
            piece = b""
        with ready:
            queue.append((time.monotonic() + delay(), piece))
            ready.notify()
        if not piece:
            return


def serve(client):
    wait_while_stopped()
    try:
        server = socket.create_connection(("127.0.0.1", TARGET))
    except OSError:
        return client.close()
    for source, target in [(client, server), (server, client)]:
        threading.Thread(target=hand_on, args=(source, target), daemon=True).start()


door = socket.create_server(("127.0.0.1", 0))
with open(PORT + ".new", "w") as file:
    file.write(str(door.getsockname()[1]))
os.rename(PORT + ".new", PORT)
while True:
    threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
