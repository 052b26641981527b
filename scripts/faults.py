"""The faults of docs/results/faults.md, made again from outside with the program.

    python3 scripts/faults.py [--assay PROGRAM] [N...]

Each prints what it counted, and "holds" or "FALLS SHORT". Everything is made in a new directory of /tmp, or TMPDIR,
which is removed. Some faults need root, for a disk of 8 MiB or another user: without it they say so. It takes some
minutes. What is written to memory and disk stays below 1 GB."""

import argparse
import gzip
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.geteuid() == 0
assay = "assay"
top = ""


def run(*args, limit=300, env=None, files=None, **more):
    """Runs assay, and returns its exit code, its output, its seconds, and its memory in MB."""
    def limits():
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    began = time.monotonic()
    out = tempfile.TemporaryFile(dir=top)
    p = subprocess.Popen([assay, *args], stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=top,
                         env={**os.environ, **(env or {})}, preexec_fn=limits, **more)
    end = time.monotonic() + limit
    while True:
        pid, status, usage = os.wait4(p.pid, os.WNOHANG)
        if pid:
            p.returncode = os.waitstatus_to_exitcode(status)
            break
        if time.monotonic() > end:
            p.kill()
            os.wait4(p.pid, 0)
            raise AssertionError(f"assay {' '.join(args)[:80]} hangs")
        time.sleep(0.01)
    out.seek(0)
    said = out.read().decode(errors="replace")
    return p.returncode, said, time.monotonic() - began, usage.ru_maxrss / 1024


def start(*args, **more):
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "cwd": top, **more}
    return subprocess.Popen([assay, *args], **more)


def trials(study, store):
    code, said, _, _ = run("study", "trials", study, "--store", store, "--json")
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")] if code == 0 else []


def path(name):
    return os.path.join(top, name)


def write(name, text):
    with open(path(name), "w") as f:
        f.write(text)
    return path(name)


def alive(mark):
    """How many processes have a mark in their command line. This script's have none."""
    n = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        n += words[0] == b"sleep" and mark.encode() in words
    return n


def wait_for(what, ok, limit=60):
    end = time.monotonic() + limit
    while not ok():
        if time.monotonic() > end:
            raise AssertionError("waited in vain: " + what)
        time.sleep(0.05)


def table(rows=18432):
    if not os.path.exists(path("t.csv")):
        with open(path("t.csv"), "w") as f:
            f.write("a,b,c,t\n")
            for i in range(rows):
                a, b, c = i // 1152, i // 8 % 144, i % 8
                f.write(f"{a},{b},{c},{1 + (a - 5) ** 2 / 20 + (b - 60) ** 2 / 900 + i * 7919 % 97 / 1000:.4f}\n")
    return write("t.yaml", "replay: {file: t.csv, parameters: [a, b, c], metrics: {elapsed: t}}\nstop: {rule: none}\n")


def small_disk(name):
    at = path(name)
    os.mkdir(at)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", at], check=True)
    return at


def f1():
    """A client without the token opens more connections than serve may have open files."""
    write("o.yaml", "parameters: {x: 1..9}\n")
    program = start("serve", "--online", "o.yaml", "--listen", "127.0.0.1:0", "--token-file", "token", "--store", "memory",
                    "--", "sh", "-c", 'echo "$ASSAY_ONLINE"; sleep 6; echo lived',
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128)))
    line = program.stdout.readline().decode()
    while "http://" not in line:
        line = program.stdout.readline().decode()
    host, port = re.search(r"http://([\d.]+):(\d+)", line).groups()
    open_ = []
    for _ in range(400):
        c = socket.socket()
        c.settimeout(2)
        try:
            c.connect((host, int(port)))
        except OSError:
            break
        open_.append(c)
    said = program.stdout.read().decode()
    code = program.wait()
    return code == 0 and "lived" in said, f"{len(open_)} connections to a server of 128 files: the program {'lived' if 'lived' in said else 'was ended'}, code {code}"


def f2():
    """HUP, TERM, QUIT and kill -9: what is left of the run, and how long it takes to end."""
    words, good = [], True
    for n, sig in enumerate([signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT]):
        mark = f"37.01{n}"
        p = start("tune", "-p", "n=1..9", "--check", "0", "--store", path("f2.db"), "--study", sig.name, "--", "sleep", mark, "0.00{n}")
        wait_for("the run", lambda: alive(mark))
        began = time.monotonic()
        p.send_signal(sig)
        p.communicate(timeout=60)
        took, left = time.monotonic() - began, alive(mark)
        good = good and left == 0 and took < 20
        words.append(f"{sig.name} ended it in {took:.1f} s, {left} left")
    write("o.yaml", "parameters: {x: 1..9}\n")
    p = start("serve", "--online", "o.yaml", "--store", "memory", "--", "sleep", "37.020")
    wait_for("the program", lambda: alive("37.020"))
    p.send_signal(signal.SIGHUP)
    p.communicate(timeout=60)
    good, words = good and alive("37.020") == 0, [*words, f"serve: {alive('37.020')} left"]
    p = start("tune", "-p", "n=1..9", "--check", "0", "--store", path("f2.db"), "--study", "k", "--", "sleep", "37.021", "0.00{n}")
    wait_for("the run", lambda: alive("37.021"))
    p.kill()
    p.communicate()
    before = alive("37.021")
    run("tune", "-p", "n=1..9", "--check", "0", "--trials", "1", "--store", path("f2.db"), "--study", "other", "--", "true", "{n}")
    after = alive("37.021")
    return good and before > 0 and after == 0, "; ".join([*words, f"kill -9: {before} left, {after} after another study began"])


def filled(name, n=100):
    """A store of n trials whose log is not in the file yet."""
    db = path(name)
    made = lambda: os.path.exists(path("n")) and os.path.getsize(path("n"))  # without opening the store, which would tidy the log
    p = start("tune", "-p", "n=1..1000", "--search", "random", "--check", "0", "--trials", str(n + 1), "--store", db, "--study", "s",
              "--stop", "none", "--", "sh", "-c", f'test "$(cat {path("n")} 2>/dev/null | wc -c)" -lt {n} && printf x >>{path("n")} || sleep 37.030',
              "sh", "{n}", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(f"{n} trials", lambda: made() >= n and alive("37.030"), 120)
    time.sleep(1)
    p.kill()
    p.wait()
    subprocess.run(["pkill", "-f", "^sleep 37[.]030$"], check=False)
    os.remove(path("n"))
    return db


def f3():
    """A bit of the log is wrong, and a log lost its end: is it seen, and what is saved."""
    os.mkdir(path("f3"))
    db = filled("f3/a.db")
    size = os.path.getsize(db + "-wal")
    random.seed(3)
    seen, saved, advice, cases = 0, [], 0, []
    for _ in range(12):
        cases.append((random.randrange(size), None))
    for share in [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99]:
        cases.append((None, int(share * size)))
    kept = {at: open(at, "rb").read() for at in (db, db + "-wal", *(os.path.join(d, n) for d, _, ns in os.walk(path("f3/locks")) for n in ns))}
    for bit, cut in cases:
        for at, data in kept.items():  # the same files, since a copy is no damage
            with open(at, "r+b") as f:
                f.truncate(len(data))
                f.write(data)
        for name in os.listdir(path("f3")):
            if name.endswith("-shm") or "salvaged" in name:
                os.remove(path("f3/" + name))
        with open(db + "-wal", "r+b") as f:
            if cut is None:
                f.seek(bit)
                b = f.read(1)
                f.seek(bit)
                f.write(bytes([b[0] ^ 4]))
            else:
                f.truncate(cut)
        code, said, _, _ = run("study", "fsck", "--store", db)
        if code == 0:
            n = len(trials("s", db))
            seen += n >= 100  # a bit that is never read harms nothing
            saved.append(n)
            continue
        seen += 1
        advice += "--repair" in said or "salvage" in said
        run("study", "fsck", "--repair", "--store", db)
        saved.append(len(trials("s", db + ".salvaged" if os.path.exists(db + ".salvaged") else db)))
    return seen == len(cases) and min(saved[:12]) > 0, (f"{seen} of {len(cases)} seen or harmless, {advice} with the next step; "
                                                      f"trials saved, of 101: bits {sorted(saved[:12])}, cuts {saved[12:]}")


def f4():
    """An import is killed at any instant: a study is whole, not there, or known for a half one, and the same import goes on with it."""
    study, half, unsaid, helps, whole, none, ended = table(), 0, 0, 0, 0, 0, 0
    write("near.yaml", "replay: {file: t.csv, parameters: [a, b, c], metrics: {elapsed: t}}\nprior: auto\nbudget: {trials: 3}\n")
    began = time.monotonic()
    run("study", "import", study, "--study", "i", "--store", path("f4.db"))
    takes = time.monotonic() - began
    for n in range(20):
        db = path(f"f4-{n}.db")
        p = start("study", "import", study, "--study", "i", "--store", db)
        time.sleep(random.random() * takes)
        p.kill()
        p.communicate()
        listed = run("study", "ls", "--store", db)[1] if os.path.exists(db) else ""
        got = len(trials("i", db))
        whole, none = whole + (got == 18432), none + (got == 0)
        if 0 < got < 18432:
            half += 1
            unsaid += "half imported" not in listed
            said = run("tune", path("near.yaml"), "--store", db, "--study", "near", "--check", "0")[1]
            assert len(trials("near", db)) == 3, said
            helps += '"i" helps' in said
            ended += run("study", "import", study, "--study", "i", "--store", db)[0] == 0 and len(trials("i", db)) == 18432
    return unsaid == helps == 0 and ended == half > 0, (
        f"20 kills: {none} without trials, {whole} whole, {half} half, of which {unsaid} pass for whole, {helps} help another study, and {ended} were completed by the same import")


def f5():
    """Sessions that run nothing, and one that is killed every half second."""
    study = table()
    args = ["tune", study, "--store", path("f5.db"), "--study", "s", "--search", "auto", "--seed", "3", "--check", "0", "--trials", "60", "--json"]
    spent = []
    for _ in range(3):
        _, said, _, _ = run(*args)
        spent.append(json.loads(said[said.index("{"):])["spent_s"])
    sessions, began = 0, time.monotonic()
    while time.monotonic() - began < 90:
        p = start("tune", "-p", "n=1..500", "-p", "m=1..500", "--seed", "7", "--check", "0", "--trials", "60", "--store", path("f5k.db"),
                  "--study", "k", "--", "sleep", "0.0{m}", "0.00{n}")
        sessions += 1
        try:
            p.communicate(timeout=0.5)
            break
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
    n = len([t for t in trials("k", path("f5k.db")) if t["state"] in ("done", "censored")])
    return max(spent) - spent[0] < 0.5 and n == 60, (
        f"spent {', '.join(f'{s:.1f} s' for s in spent)} in three sessions of which two ran nothing; {n} of 60 trials after {sessions} sessions of half a second")


def f6():
    """assay is stopped for five seconds during a run of 0.3 s."""
    p = start("tune", "-p", "n=1..9", "--check", "0", "--trials", "5", "--store", path("f6.db"), "--study", "s", "--", "sleep", "0.3{n}")
    wait_for("a trial", lambda: len(trials("s", path("f6.db"))) >= 2)
    p.send_signal(signal.SIGSTOP)
    time.sleep(5)
    p.send_signal(signal.SIGCONT)
    p.communicate(timeout=120)
    all_ = trials("s", path("f6.db"))
    wrong = [t for t in all_ if t["state"] == "done" and t["value"] > 3]
    again = [t for t in all_ if t["attempts"] > 1]
    return len(all_) == 5 and not wrong, f"{len(all_)} trials, {len(wrong)} with a false time, {len(again)} run again"


def f7():
    """Files that unpack to 700 MB, and a model of 1 GiB."""
    words, good = [], True
    for name, head in {"bomb.json.gz": b"{", "bomb.csv.gz": b"id,kind,run_s,parents\n"}.items():
        with gzip.open(path(name), "wb", 9) as f:
            f.write(head)
            for _ in range(700):
                f.write(b" " * (1 << 20))
        code, said, took, mb = run("plan", path(name), "--slots", "2")
        good = good and code == 2 and mb < 100
        words.append(f"{os.path.getsize(path(name)) / 1e6:.1f} MB -> {mb:.0f} MB, {took:.1f} s, code {code}")
    with open(path("m.json"), "wb") as f:
        f.truncate(1 << 30)
    code, said, took, mb = run("predict", path("m.json"))
    os.remove(path("m.json"))
    return good and code != 0 and mb < 100, "; ".join([*words, f"a model of 1 GiB: {mb:.0f} MB, {took:.1f} s, code {code}"])


def f8():
    """Programs that print 3 MiB each, on a disk of 8 MiB that has the store."""
    if not ROOT:
        return None, "needs root"
    at = small_disk("f8")
    try:
        code, said, _, _ = run("tune", "-p", "n=1..99", "--check", "0", "--trials", "8", "--store", at + "/a.db", "--study", "s", "--search", "random", "--stop", "none",
                              "--", "sh", "-c", "head -c 3000000 /dev/zero", "sh", "{n}")
        done = len([t for t in trials("s", at + "/a.db") if t["state"] == "done"])
        acked = len(re.findall(r"^\*?\s+\d+\s+done", said, re.M))
        return done >= acked and (done == 8 or code == 74), f"{done} of 8 trials on record, {acked} acknowledged, code {code}: {said.strip().splitlines()[-1][:90]}"
    finally:
        subprocess.run(["umount", at], check=True)


def f9():
    """One rank makes 12,000 iterations: memory of serve after 2,000 and at the end."""
    write("o9.yaml", "parameters: {x: 1..1000, y: 1..1000}\n")
    sock = path("o9.sock")
    p = start("serve", "--online", "o9.yaml", "--socket", sock, "--store", path("f9.db"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for("the socket", lambda: os.path.exists(sock))
    c = socket.socket(socket.AF_UNIX)
    c.connect(sock)
    answers = c.makefile("rb")

    def ask(what, body):
        text = json.dumps(body).encode()
        c.sendall(b"POST /v1/online/" + what.encode() + b" HTTP/1.1\r\nHost: assay\r\nContent-Type: application/json\r\nContent-Length: "
                  + str(len(text)).encode() + b"\r\n\r\n" + text)
        status, length = answers.readline(), 0
        while (line := answers.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        body = answers.read(length)
        return json.loads(body) if b" 200 " in status else {"error": body}

    def memory():
        with open(f"/proc/{p.pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024
    ask("join", {"rank": 0, "instance": "a"})
    sizes = []
    for n in range(12000):
        turn = ask("fetch", {"instance": "a"})
        if "turn" not in turn:
            return False, f"iteration {n}: {turn}"
        ask("report", {"instance": "a", "turn": turn["turn"], "seconds": 1 + n * 7919 % 97 / 100})
        if n in (2000, 11999):
            sizes.append(memory())
    p.terminate()
    p.wait(60)
    return sizes[1] < 2 * sizes[0] + 30, f"{sizes[0]:.0f} MB after 2,000 iterations, {sizes[1]:.0f} MB after 12,000"


def f10():
    """A model is learned again where the disk is full."""
    if not ROOT:
        return None, "needs root"
    at = small_disk("f10")
    try:
        write("l.yaml", "command: [sleep, '0.0{x}']\nparameters: {x: 1..8}\n")
        store = path("f10.db")
        run("tune", path("l.yaml"), "--store", store, "--study", "l", "--trials", "8", "--check", "0")
        code, said, _, _ = run("learn", "--from", "l", "--store", store, "--model", at + "/m.json")
        before = open(at + "/m.json", "rb").read() if code == 0 else b""
        fill = os.open(at + "/fill", os.O_WRONLY | os.O_CREAT)
        try:
            while os.write(fill, b"x" * 4096):
                pass
        except OSError:
            os.close(fill)
        code, said, _, _ = run("learn", "--from", "l", "--store", store, "--model", at + "/m.json")
        after = open(at + "/m.json", "rb").read()
        return len(before) > 0 and code != 0 and after == before, f"a model of {len(before)} bytes has {len(after)} after code {code}"
    finally:
        subprocess.run(["umount", at], check=True)


def f11():
    """Values and names with what a terminal obeys."""
    bad = "\x1b[2J\x1b]0;owned\x07"
    write("e.yaml", json.dumps({"name": "e" + bad, "command": ["true", "{v}"], "parameters": {"v": {"values": ["a" + bad, "b" + bad, "\u202ec"]}}}))
    found, said_all = 0, 0
    for args in (["tune", path("e.yaml"), "--check", "0"], ["study", "ls"], ["study", "show", "e" + bad], ["study", "trials", "e" + bad]):
        _, said, _, _ = run(*args, "--store", path("f11.db"))
        said_all += len(said)
        found += sum(c in "\x1b\x07\u202e" for c in said)
    return found == 0 and said_all > 500, f"{found} such characters in {said_all} bytes of four commands"


def f12():
    """A process that may open few files, and a user who may start few processes."""
    failed, codes = 0, []
    for files in (32, 34, 36, 40, 48):
        db = path(f"f12-{files}.db")
        code, _, _, _ = run("tune", "-p", "n=1..9", "--trials", "4", "--check", "0", "--parallel", "4", "--store", db, "--study", "s", "--", "true", "{n}", files=files)
        codes.append(code)
        failed += len([t for t in trials("s", db) if t["state"] == "failed"])
    words = [f"{failed} failed trials under 32 to 48 files, codes {codes}"]
    if ROOT:
        os.mkdir(path("nobody"))
        os.chown(path("nobody"), 65534, 65534)
        os.chmod(top, 0o755)
        there = 0
        for n in (10, 12, 14, 16, 20, 30):
            db = path(f"nobody/{n}.db")
            subprocess.run([assay, "tune", "-p", "n=1..9", "--trials", "4", "--check", "0", "--parallel", "4", "--store", db, "--study", "s", "--", "sleep", "0.{n}"],
                           cwd=path("nobody"), capture_output=True, timeout=120, user=65534, group=65534, extra_groups=[],
                           env={"PATH": os.environ["PATH"], "HOME": path("nobody"), "XDG_STATE_HOME": path("nobody"), "XDG_RUNTIME_DIR": path("nobody")},
                           preexec_fn=lambda n=n: resource.setrlimit(resource.RLIMIT_NPROC, (n, n)))
            all_ = trials("s", db)
            there += len(all_)
            failed += len([t for t in all_ if t["state"] == "failed"])
        words.append(f"{failed} with 10 to 30 processes too, of {there} trials")
    return failed == 0, "; ".join(words)


def f13():
    """A study is resumed right after kill -9."""
    busy = 0
    for n in range(60):
        p = start("tune", "-p", "n=1..99", "--search", "random", "--check", "0", "--store", path("f13.db"), "--study", "s", "--", "sleep", "0.00{n}")
        time.sleep(0.05 + random.random() / 8)
        p.kill()
        p.wait()
        q = start("tune", "-p", "n=1..99", "--search", "random", "--check", "0", "--store", path("f13.db"), "--study", "s", "--", "sleep", "0.00{n}")
        time.sleep(0.15)
        early = q.poll()
        q.kill()
        said = q.communicate()[0].decode()
        busy += early is not None and "in use" in said
        p.communicate()
    return busy == 0, f"60 kills: {busy} times the study was in use"


def f14():
    """Small: a file system mounted read-only, cells of a table, few files, a profile of half a minute."""
    words, good = [], True
    if ROOT:
        at = small_disk("f14")
        try:
            run("tune", "-p", "n=1..9", "--trials", "3", "--check", "0", "--store", at + "/a.db", "--study", "s", "--", "true", "{n}")
            subprocess.run(["mount", "-o", "remount,ro", at], check=True)
            n = len(trials("s", at + "/a.db"))
            good, words = good and n == 3, [*words, f"{n} of 3 trials are read on a read-only file system"]
        finally:
            subprocess.run(["umount", at], check=True)
    write("c.yaml", json.dumps({"name": "c", "command": ["true", "{v}"], "parameters": {"v": {"values": ["=1+1", "@x", "-2+3"]}}}))
    run("tune", path("c.yaml"), "--check", "0", "--store", path("f14.db"))
    _, said, _, _ = run("study", "export", "c", "--store", path("f14.db"), "--format", "csv")
    formulas = len(re.findall(r"(?:^|,)\"?[=@+-][^,\d]", said, re.M)) + said.count(",=")
    good, words = good and formulas == 0 and "1+1" in said, [*words, f"{formulas} cells that a spreadsheet obeys"]
    for files in (5, 8):
        code, said, _, _ = run("version", files=files)
        good, words = good and "goroutine" not in said, [*words, f"{files} files: code {code}, {len(said.splitlines())} line"]
    code, said, _, _ = run("profile", "--time", "30s")
    return good and code == 0 and "EOF" not in said, "; ".join([*words, f"a profile of 30 s: code {code}"])


def main():
    global assay, top
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--assay", default="assay")
    flags.add_argument("faults", nargs="*", type=int)
    args = flags.parse_args()
    assay = shutil.which(args.assay) or sys.exit(f"no program {args.assay}")
    short = 0
    for n in args.faults or range(1, 15):
        top = tempfile.mkdtemp(prefix="assay-faults-")
        os.environ.update(XDG_STATE_HOME=top + "/state", XDG_RUNTIME_DIR=top + "/run", HOME=top)
        os.mkdir(top + "/run", 0o700)
        fault = globals()[f"f{n}"]
        try:
            ok, said = fault()
        except Exception as e:
            ok, said = False, f"{type(e).__name__}: {e}"
        short += ok is False
        print(f"{n:2} {'not tried' if ok is None else 'holds' if ok else 'FALLS SHORT'}: {fault.__doc__} {said}", flush=True)
        shutil.rmtree(top, ignore_errors=True)
    sys.exit(short > 0)


if __name__ == "__main__":
    main()
