"""Runs a program in a pseudo-terminal: in_terminal.py ROWS COLUMNS PROGRAM ARGUMENTS...

Writes the terminal's bytes to stdout. Each line of stdin is a JSON object: {"keys": text} or {"size": [rows, columns]}.
"""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios


def set_size(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


rows, columns = int(sys.argv[1]), int(sys.argv[2])
pid, terminal = pty.fork()
if pid == 0:
    set_size(0, rows, columns)
    os.execvp(sys.argv[3], sys.argv[3:])

waiting = b""
sources = [terminal, 0]
while True:
    readable, _, _ = select.select(sources, [], [])
    if terminal in readable:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # EIO: the program has ended
            data = b""
        if not data:
            break
        os.write(1, data)
    if 0 in readable:
        data = os.read(0, 65536)
        if not data:
            sources.remove(0)
            os.kill(pid, signal.SIGHUP)
            continue
        *lines, waiting = (waiting + data).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "keys" in order:
                os.write(terminal, order["keys"].encode())
            else:
                set_size(terminal, *order["size"])

_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
