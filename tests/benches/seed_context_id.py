"""The old way to a context ID: one `ps -p` for each level of the parent chain."""

import os
import subprocess

pid = os.getpid()
for _ in range(12):
    out = subprocess.run(["ps", "-p", str(pid), "-o", "ppid=,comm="], capture_output=True, text=True)
    parts = out.stdout.split(None, 1)
    if len(parts) < 2:
        break
    if "claude" in parts[1].lower() and "native-binary" in parts[1]:
        break
    pid = int(parts[0])
    if pid <= 1:
        break
print(pid)
