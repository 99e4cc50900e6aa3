#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""programs_test.py BUILD_FOLDER [kills=N [TEST...]]: real programs do over unetsock what they do over TCP, are upgraded, and leave
nothing behind.  Those that are not installed are left out."""
import contextlib
import hashlib
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import both

BUILD = None
MODE = "2"
KILLS = 10  # of test_killed_at_any_moment_looks_like_tcp


def need(*programs):
    """A test of programs that may be missing."""
    missing = [name for name in programs if not shutil.which(name)]
    return unittest.skipIf(missing, f"not run: there is no {', '.join(missing)}")


def free_port():
    """One that no connection is given meanwhile: it is below those that the kernel gives."""
    given = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii")
    lowest = int(given.split()[0])
    while True:
        port = random.randrange(*(10000, lowest) if lowest > 11000 else (lowest, 65536))
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def is_listening(port):
    """Without a connection, which some servers would take for a client."""
    for name in "/proc/net/tcp", "/proc/net/tcp6":
        with contextlib.suppress(OSError):
            for line in pathlib.Path(name).read_text(encoding="ascii").splitlines()[1:]:
                words = line.split()
                if words[3] == "0A" and int(words[1].rsplit(":", 1)[1], 16) == port:
                    return True
    return False


@contextlib.contextmanager
def server(port, *command, **options):
    """A server under unetsock, from when it listens on."""
    environment = dict(os.environ, UNETSOCK_UPGRADE=MODE, **options.pop("environment", {}))
    with tempfile.TemporaryFile("w+") as output, \
            subprocess.Popen([BUILD.unetsock, *command], env=environment, stdout=output,
                             stderr=output, start_new_session=True, **options) as process:
        try:
            deadline = time.monotonic() + 20
            while True:
                if is_listening(port):
                    break
                if process.poll() is not None or time.monotonic() > deadline:
                    output.seek(0)
                    raise AssertionError(f"{command[0]} does not listen: {output.read()}")
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)

    def ours(self, *command, least=1):
        """What a client under unetsock prints, of whose connections so many have to be upgraded."""
        done = BUILD.run(list(command), MODE, stats=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreaterEqual(both.upgraded(done.stderr), least, done.stderr)
        return done.stdout

    @need("redis-server", "redis-benchmark", "redis-cli")
    def test_redis(self):
        port = str(free_port())
        with server(int(port), "redis-server", "--port", port, "--save", "", "--bind", "127.0.0.1",
                    "--dir", str(self.folder)):
            for depth in "1", "16":
                out = self.ours("redis-benchmark", "-p", port, "-t", "set,get,lrange_600", "-n",
                                "4000", "-c", "20", "-P", depth, "--csv", least=20)
                self.assertEqual(out.count("SET"), 1, out)
            script = "for i=1,1000 do redis.call('set', i, string.rep('x', i)) end return 7"
            self.assertEqual(self.ours("redis-cli", "-p", port, "eval", script, "0", least=0), "7\n")
            self.assertEqual(self.ours("redis-cli", "-p", port, "get", "1000", least=0),
                             "x" * 1000 + "\n")

    @need("nginx", "wrk", "curl")
    def test_nginx(self):
        port = free_port()
        big = os.urandom(3 << 20)
        (self.folder / "small").write_text("hello\n")
        (self.folder / "big").write_bytes(big)
        (self.folder / "conf").write_text(
            f"daemon off; error_log {self.folder}/error; pid {self.folder}/pid;\n"
            f"{'user root;' if os.geteuid() == 0 else ''} worker_processes 2;\n"
            "events { worker_connections 200; }\n"
            "http { access_log off; sendfile on; client_body_temp_path body; proxy_temp_path proxy;"
            " fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n"
            f" server {{ listen 127.0.0.1:{port}; root {self.folder}; }} }}\n")
        with server(port, "nginx", "-c", f"{self.folder}/conf", "-p", f"{self.folder}/"):
            url = f"http://127.0.0.1:{port}"
            out = self.ours("wrk", "-t2", "-c10", "-d1", f"{url}/small", least=5)
            self.assertNotIn("Socket errors", out)
            self.assertNotIn("Non-2xx", out)
            out = self.ours("wrk", "-t1", "-c4", "-d1", f"{url}/big", least=2)
            self.assertNotIn("Socket errors", out)
            urls = [f"{url}/big"] * 5
            got = self.folder / "got"
            self.ours("curl", "-s", *sum((["-o", f"{got}{i}", u] for i, u in enumerate(urls)), []),
                      least=0)
            for i in range(5):
                self.assertEqual(hashlib.sha256(pathlib.Path(f"{got}{i}").read_bytes()).digest(),
                                 hashlib.sha256(big).digest())

    @need("memcached")
    def test_memcached(self):
        port = free_port()
        user = ["-u", "root"] if os.geteuid() == 0 else []
        client = self.folder / "client.py"
        client.write_text(
            "import socket, sys\n"
            "for c in range(4):\n"
            "    s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
            "    f = lambda n: b''.join(iter(lambda: s.recv(1), b'\\n'))\n"
            "    for i in range(300):\n"
            "        v = b'v' * (i * 37 % 9000)\n"
            "        s.sendall(b'set k%d 0 0 %d\\r\\n%s\\r\\n' % (i, len(v), v))\n"
            "        assert f(0) == b'STORED\\r'\n"
            "        s.sendall(b'get k%d\\r\\n' % i)\n"
            "        assert f(0) == b'VALUE k%d 0 %d\\r' % (i, len(v))\n"
            "        assert s.recv(len(v) + 7, socket.MSG_WAITALL) == v + b'\\r\\nEND\\r\\n'\n")
        with server(port, "memcached", *user, "-l", "127.0.0.1", "-p", str(port), "-t", "3"):
            self.ours(sys.executable, str(client), str(port), least=4)

    @need("iperf3")
    def test_iperf3(self):
        port = free_port()
        with server(port, "iperf3", "-s", "-p", str(port)):
            out = self.ours("iperf3", "-c", "127.0.0.1", "-p", str(port), "-t", "1", "-P", "2",
                            "--bidir", least=2)
            self.assertIn("receiver", out)

    def test_what_never_upgrades_is_the_same(self):
        """A server without unetsock: connections stay with the kernel, and nobody notices."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            client = ("import socket,sys\ns = socket.create_connection(('127.0.0.1', %d))\n"
                      "for i in range(100):\n    s.sendall(b'x')\n    assert s.recv(1) == b'x'\n"
                      % listener.getsockname()[1])
            environment = dict(os.environ, UNETSOCK_UPGRADE="1")
            with subprocess.Popen([BUILD.unetsock, "--stats", sys.executable, "-c", client],
                                  env=environment, stderr=subprocess.PIPE, text=True) as process:
                with listener.accept()[0] as connection:
                    while data := connection.recv(100):
                        connection.sendall(data)
                self.assertIn("has a peer without unetsock", process.stderr.read())
            self.assertEqual(process.returncode, 0)

    def test_one_side_is_far_ahead(self):
        """Who has done hundreds of operations before the other side begins still finds it."""
        script = ("import socket\nL = socket.create_server(('127.0.0.1', 0))\n"
                  "for turn in range(5):\n"  # on a machine that stands still they may give up
                  "    a = socket.create_connection(L.getsockname())\n"
                  "    for i in range(400): a.send(b'x')\n"
                  "    b = L.accept()[0]\n    b.recv(400, socket.MSG_WAITALL)\n"
                  "    for i in range(600): a.send(b'x'); b.recv(1); b.send(b'y'); a.recv(1)\n")
        self.ours(sys.executable, "-c", script)

    def test_files_by_connections_of_their_own_stay_with_tcp(self):
        """Rings would cost more than they gain, unless the transfer lasts."""
        script = ("import socket, sys\nL = socket.create_server(('127.0.0.1', 0))\n"
                  "a = socket.create_connection(L.getsockname()); b = L.accept()[0]\n"
                  "for i in range(int(sys.argv[1])):\n"
                  "    a.sendall(bytes(65536)); b.recv(65536, socket.MSG_WAITALL)\n")
        for pieces, ends in (16, 0), (200, 2):
            done = BUILD.run([BUILD.unetsock, "--stats", sys.executable, "-c", script, str(pieces)])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(both.upgraded(done.stderr), ends, done.stderr)

    @unittest.skipIf(os.geteuid() != 0, "not run: another user takes root")
    def test_two_users(self):
        """Who has the connection may share its rings, whoever it is."""
        library = self.folder / "libunetsock.so"
        shutil.copy(BUILD.folder / "lib" / "split-c" / "libunetsock.so", library)
        library.chmod(0o644)
        echo = self.folder / "echo.py"
        echo.write_text("import socket\nL = socket.create_server(('127.0.0.1', 0))\n"
                        "print(L.getsockname()[1], flush=True)\nc = L.accept()[0]\n"
                        "while d := c.recv(100): c.sendall(d)\n")
        client = ("import socket, sys\ns = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
                  "for i in range(500):\n    s.sendall(b'x'); assert s.recv(1) == b'x'\n")
        environment = dict(os.environ, LD_PRELOAD=str(library), UNETSOCK_UPGRADE=MODE)
        with subprocess.Popen(["/usr/bin/python3", str(echo)], env=environment, user=65534,
                              group=65534, cwd="/", stdout=subprocess.PIPE, text=True) as process:
            try:
                port = process.stdout.readline().strip()
                self.ours(sys.executable, "-c", client, port)
            finally:
                process.kill()

    def test_killed_at_any_moment_looks_like_tcp(self):
        """Who is left sees the end of the stream, or a reset, and nothing stays behind, whichever end is killed, and
        whether it answers, sends without end, or only reads."""
        script = self.folder / "kill.py"
        script.write_text(
            "import os, random, signal, socket, sys, time\n"
            "turns = int(sys.argv[1])\n"
            "random.seed(turns)\n"
            "listener = socket.create_server(('127.0.0.1', 0))\n"
            "def victim(s, kind):\n"
            "    while kind == 'sends': s.sendall(b'x' * random.randrange(1, 100000))\n"
            "    while data := s.recv(100000):\n"
            "        if kind == 'answers' or len(data) < 10: s.sendall(data)\n"
            "    os._exit(0)\n"
            "def live(s, kind, pid, until):\n"
            "    for i in range(1000000):\n"
            "        if i == until: os.kill(pid, signal.SIGKILL)\n"
            "        size = 1 + i * 7919 % 20000 if i >= 8 else 1\n"
            "        left = size if kind == 'answers' or size < 10 else 0\n"
            "        if kind == 'sends': left = 1 + i * 7919 % 200000\n"
            "        else: s.sendall(b'y' * size)\n"
            "        while left:\n"
            "            n = len(s.recv(left))\n"
            "            if n == 0: raise ConnectionResetError\n"
            "            left -= n\n"
            "    sys.exit('the peer was killed, and nobody noticed')\n"
            "for turn in range(turns):\n"
            "    kind = random.choice(('answers', 'sends', 'reads'))\n"
            "    serves = random.randrange(2)\n"
            "    pid = os.fork()\n"
            "    if (pid == 0) == bool(serves):\n"
            "        s = listener.accept()[0]\n"
            "    else:\n"
            "        s = socket.create_connection(listener.getsockname())\n"
            "    s.settimeout(20)\n"
            "    if pid == 0: victim(s, kind)\n"
            "    try:\n"
            "        live(s, kind, pid, random.randrange(1, 100))\n"
            "    except (ConnectionResetError, BrokenPipeError):\n"
            "        pass\n"
            "    os.waitpid(pid, 0)\n"
            "    s.close()\n"
            "assert not [l for l in open('/proc/self/maps') if 'unetsock-rings' in l]\n"
            "def descriptors(): return os.listdir('/proc/self/fd')\n"
            "until = time.monotonic() + 10\n"  # an endpoint waits for a while for its killed peer
            "while len(descriptors()) >= 12 and time.monotonic() < until: time.sleep(0.01)\n"
            "assert len(descriptors()) < 12, descriptors()\n"
            "try: os.wait()\n"
            "except ChildProcessError: pass\n"
            "else: sys.exit('a process is left')\n")
        done = BUILD.run([sys.executable, str(script), str(KILLS)], "1", stats=True, seconds=400)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(both.upgraded(done.stderr), KILLS // 2, done.stderr)


class Front(unittest.TestCase):
    def test_tells_what_is_wrong(self):
        for arguments, status, text in ((["--explain", "x"], 2, "'x' is no process"),
                                        (["--explain", "999999999"], 1, "999999999"),
                                        (["/no/such/program"], 127, "/no/such/program"),
                                        (["--nonsense"], 2, "unknown option '--nonsense'"),
                                        (["--stats"], 2, "option '--stats' needs a program"),
                                        (["--net"], 2, "option '--net' needs a network and a program"),
                                        (["--net", "udp"], 2, "option '--net' needs a network and a program"),
                                        (["--explain"], 2, "option '--explain' needs the number of a process"),
                                        (["--explain", "1", "2"], 2, "and nothing else"),
                                        (["--make-key", "x"], 2, "option '--make-key' takes no words"),
                                        (["--"], 2, "option '--' needs a program"), ([], 2, "usage")):
            done = subprocess.run([BUILD.unetsock, *arguments], capture_output=True, text=True,
                                  timeout=20, check=False)
            self.assertEqual(done.returncode, status, arguments)
            self.assertIn(text, done.stderr)

    def test_answers(self):
        done = BUILD.run([BUILD.unetsock, "--version"])
        self.assertRegex(done.stdout, r"^unetsock [0-9]+\.[0-9.]+\n$")
        for option in "--help", "--version", "--print-options":
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([BUILD.unetsock, option], stdout=full, stderr=subprocess.PIPE, text=True,
                                      check=False, timeout=20)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "unetsock: cannot write to standard output: No space left on device\n"))

    def test_counts_nothing_of_what_was_never_started(self):
        done = subprocess.run([BUILD.unetsock, "--stats", "/no/such/program"], capture_output=True, text=True,
                              timeout=20, check=False)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (127, 1), done.stderr)
        for program, status in ("true", 0), ("false", 1):
            done = subprocess.run([BUILD.unetsock, "--stats", program], capture_output=True, text=True,
                                  timeout=20, check=False)
            self.assertEqual(done.returncode, status)
            self.assertIn("unetsock: 0 connections", done.stderr)

    def test_tells_of_variables_that_the_library_would_pass_over(self):
        for variable, value, good in (("UPGRADE", "soon", False), ("UPGRADE", "0", False), ("UPGRADE", "random", True),
                                      ("SPIN", "-1", False), ("SPIN", "1000001", False), ("SPIN", "0", True),
                                      ("NET_MANY", "few", False), ("NET_MANY", "", True)):
            done = subprocess.run([BUILD.unetsock, "true"], capture_output=True, text=True, timeout=20, check=False,
                                  env=dict(os.environ, **{f"UNETSOCK_{variable}": value}))
            self.assertEqual(done.returncode, 0 if good else 2, variable)
            self.assertEqual(f"UNETSOCK_{variable} is '{value}': it is a number from" in done.stderr, not good)

    @contextlib.contextmanager
    def installed_below(self, name):
        """The program unetsock in a folder of that name, with the library where it looks for it."""
        with tempfile.TemporaryDirectory() as folder:
            there = pathlib.Path(folder) / name
            for part in "bin", "lib/split-c":
                (there / part).mkdir(parents=True)
            shutil.copy(BUILD.folder / "lib" / "split-c" / "libunetsock.so", there / "lib" / "split-c")
            yield shutil.copy(BUILD.unetsock, there / "bin" / "unetsock")

    def test_refuses_a_path_that_the_linker_would_split(self):
        """LD_PRELOAD and LD_LIBRARY_PATH are lists: of a path with a colon they would name the parts; and the linker
        puts something else for $LIB."""
        for name in "a:b", "a b:c", "a b;c", "a $LIB", "$LIB", "a${ORIGIN}":
            with self.installed_below(name) as program:
                for words in ["true"], ["--stats", "true"]:
                    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=20, check=False)
                    self.assertEqual(done.returncode, 126, done.stderr)
                    self.assertIn(f"{name}/lib/split-c/libunetsock.so", done.stderr)
                    self.assertIn("install it elsewhere", done.stderr)
                    self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)  # and no counters

    def test_is_preloaded_from_a_path_with_spaces(self):
        """Into what the program starts, too, in front of what else is preloaded and looked for."""
        script = ("import os, subprocess, sys\n"
                  "print(os.environ['LD_PRELOAD'], os.environ.get('LD_LIBRARY_PATH'), sep='\\n')\n"
                  "grep = subprocess.run(['grep', '-q', '/libunetsock.so', '/proc/self/maps'], cwd='/')\n"
                  "sys.exit(grep.returncode)\n")
        for name, others in (("a", {}), ("a;b", {}), ("a b", {}), (" a  b ", {}),
                             ("a b", {"LD_PRELOAD": "libm.so.6", "LD_LIBRARY_PATH": "/no/such"})):
            environment = {key: value for key, value in os.environ.items() if not key.startswith("LD_")} | others
            with self.installed_below(name) as program:
                done = subprocess.run([program, sys.executable, "-c", script], env=environment,
                                      capture_output=True, text=True, timeout=20, check=False)
                folder = os.path.join(os.path.dirname(os.path.dirname(program)), "lib", "split-c")
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            preload, path = ("libunetsock.so", folder) if " " in name else (f"{folder}/libunetsock.so", "None")
            if others:
                preload, path = f"{preload}:libm.so.6", f"{path}:/no/such"
            self.assertEqual(done.stdout.splitlines(), [preload, path], name)

    def test_explains_a_process(self):
        """With --stats, too, whose counters lie elsewhere."""
        script = ("import socket, subprocess, sys, os\nL = socket.create_server(('127.0.0.1', 0))\n"
                  "a = socket.create_connection(L.getsockname()); b = L.accept()[0]\n"
                  "for i in range(20):\n    a.send(b'x'); b.recv(1); b.send(b'y'); a.recv(1)\n"
                  "c = socket.create_connection(L.getsockname()); c.send(b'x')\n"
                  "subprocess.run([sys.argv[1], '--explain', str(os.getpid())], check=True)\n")
        for stats in False, True:
            out = BUILD.run([sys.executable, "-c", script, BUILD.unetsock], "4", stats=stats)
            self.assertEqual(out.returncode, 0, out.stderr)
            upgraded = re.findall(r": upgraded; [1-9]\d* operations before it was upgraded; now by the rings\n",
                                  out.stdout)
            self.assertEqual(len(upgraded), 2, out.stdout)
            self.assertIn(": saw too few operations; 1 operations; now by TCP\n", out.stdout)
            self.assertIn("unetsock: 3 connections\n", out.stdout)
            self.assertRegex(out.stdout, r"by the rings [1-9]\d* bytes")
            self.assertEqual("of all processes under its --stats" in out.stdout, stats)


if __name__ == "__main__":
    BUILD = both.Build(sys.argv.pop(1))
    if len(sys.argv) > 1 and sys.argv[1].startswith("kills="):
        KILLS = int(sys.argv.pop(1)[6:])
    unittest.main()
