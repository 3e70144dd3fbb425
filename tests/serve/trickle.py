# SPDX-License-Identifier: Apache-2.0
"""trickle.py PORT N: so many connections at all times, each with a beginning of a request and a byte more now and then.

Who is closed comes again. Says when all are there; ends with its standard input, and says how many were closed.
"""
import contextlib
import resource
import select
import socket
import sys

HEADS = (b"GET / HT", b"POST /api/v1/runs/a/sql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9999\r\n\r\n", b"",
         b"GET /api/v1/runs?after=0 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Y: z")


def connect(port, i):
    connection = socket.socket()
    connection.setblocking(False)
    connection.connect_ex(("127.0.0.1", port))
    with contextlib.suppress(OSError):
        connection.send(HEADS[i % len(HEADS)])
    return connection


def main(port, n):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, n + 100)), hard))
    connections = [connect(port, i) for i in range(n)]
    print("all are there", flush=True)
    n_closed = 0
    while not select.select([sys.stdin], [], [], 0.05)[0]:
        for i, connection in enumerate(connections):
            try:
                connection.send(b"x")
            except BlockingIOError:
                pass
            except OSError:
                connection.close()
                n_closed += 1
                connections[i] = connect(port, i)
    print(n_closed)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
