#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""serve.py redis|nginx|iperf3 [UNETSOCK...]: a real server and a real client of it on this machine, over TCP or, with the
command that runs a program over unetsock, both over that.  Prints "METRIC NANOSECONDS" of a request, or of a MiB.

serve.py PID,PID [UNETSOCK...]: redis on the host of one process, and its clients on that of another one."""
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

PREFIX = sys.argv[2:]  # unetsock, or nothing


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return str(listener.getsockname()[1])


class Server:
    """A server, from when it listens on."""

    def __init__(self, port, *command, host=()):
        self.port = int(port)
        self.process = subprocess.Popen([*host, *PREFIX, *command], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def __enter__(self):
        deadline = time.monotonic() + 10
        wanted = f":{self.port:04X} 00000000:0000 0A"
        while wanted not in pathlib.Path(f"/proc/{self.process.pid}/net/tcp").read_text(encoding="ascii"):
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit("the server does not listen")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)


def client(*command, host=()):
    done = subprocess.run([*host, *PREFIX, *command], capture_output=True, text=True, check=True,
                          timeout=60)
    return done.stdout


def redis_rate(text):
    return float(re.search(r'"GET","([\d.]+)"', text).group(1))


def redis_between(pids):
    """A server with one core and clients with the other, if there are two."""
    cores = sorted(os.sched_getaffinity(0))
    hosts = [["taskset", "-c", str(cores[i % len(cores)]), "nsenter", "-t", pid, "-n", "-u", "-m", "--"]
             for i, pid in enumerate(pids)]
    with Server("6379", "redis-server", "--port", "6379", "--protected-mode", "no", "--save", "",
                "--appendonly", "no", host=hosts[0]):
        for clients in 1, 4, 8:
            out = client("redis-benchmark", "-h", "10.78.0.1", "-t", "get", "-c", str(clients), "-n",
                         "20000", "--csv", host=hosts[1])
            print(f"redis_{clients}_hosts {1e9 / redis_rate(out):.1f}")


def redis():
    port = free_port()
    with Server(port, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "",
                "--appendonly", "no"):
        for name, clients, depth, requests in (("redis", 50, 1, 40000), ("redis_p16", 50, 16, 200000),
                                               ("redis_one", 1, 1, 10000)):
            out = client("redis-benchmark", "-p", port, "-t", "get", "-c", str(clients), "-P",
                         str(depth), "-n", str(requests), "--csv")
            print(f"{name} {1e9 / redis_rate(out):.1f}")


def nginx():
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / "page").write_text("hello\n", encoding="ascii")
        (folder / "file").write_bytes(os.urandom(65536))
        (folder / "conf").write_text(
            f"daemon off; error_log {folder}/error; pid {folder}/pid; worker_processes 1;\n"
            f"{'user root;' if os.geteuid() == 0 else ''} events {{ worker_connections 200; }}\n"
            "http { access_log off; sendfile on; keepalive_requests 10000000;\n"
            " client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u;\n"
            f" scgi_temp_path s; server {{ listen 127.0.0.1:{port}; root {folder}; }} }}\n",
            encoding="ascii")
        with Server(port, "nginx", "-c", f"{folder}/conf", "-p", f"{folder}/"):
            for page in "page", "file":
                out = client("wrk", "-t1", "-c16", "-d1", f"http://127.0.0.1:{port}/{page}")
                rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
                print(f"nginx_{page} {1e9 / rate:.1f}")


def iperf3():
    port = free_port()
    with Server(port, "iperf3", "-4", "-B", "127.0.0.1", "-s", "-p", port):
        out = client("iperf3", "-c", "127.0.0.1", "-p", port, "-t", "1", "-f", "m")
        rate = float(re.search(r"([\d.]+) Mbits/sec\s+receiver", out).group(1))
        print(f"iperf3 {(8 << 20) / rate * 1e3:.1f}")


if __name__ == "__main__":
    if "," in sys.argv[1]:
        redis_between(sys.argv[1].split(","))
    else:
        {"redis": redis, "nginx": nginx, "iperf3": iperf3}[sys.argv[1]]()
