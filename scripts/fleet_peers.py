"""Small tasks through assay, HyperQueue and Dask, in one run: see docs/results/fleet-peers.md.

Every task of every system is the same process: a shell that appends the time at which it runs to a
file. The file shows how many tasks a second there were, and how long a slot was taken by one task and by
the gap between two of them. Nothing is asked of the systems themselves. Rounds alternate, and the best
of each system counts.
"""

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ASSAY, TASKS, ROUNDS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ONE = sys.argv[4:]  # name, path, slots and directory: one measurement, in a process of its own
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def task(path):
    return ["/bin/sh", "-c", f"date +%s%N >>{path}"]


def started(path):
    with open(path) as f:
        return sorted(int(line) for line in f)


def hyperqueue(path, slots, work):
    from hyperqueue import Job, LocalCluster
    from hyperqueue.cluster import WorkerConfig

    with LocalCluster(server_dir=os.path.join(work, "hq")) as cluster:
        cluster.start_worker(WorkerConfig(cores=slots))
        client = cluster.client()
        job = Job()
        for _ in range(TASKS):
            job.program(task(path), stdout=None, stderr=None)
        client.wait_for_jobs([client.submit(job)])


def dask(path, slots, work):
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=slots, threads_per_worker=1, processes=True, dashboard_address=None,
                      local_directory=work) as cluster, Client(cluster) as client:
        # Each key is another one: equal tasks would be one task.
        client.gather(client.map(lambda i: subprocess.run(task(path)).returncode, range(TASKS)))


def assay(store):
    def run(path, slots, work):
        study = os.path.join(work, "peers.yaml")
        with open(study, "w") as f:
            f.write(f"command: [/bin/sh, -c, 'date +%s%N >>{path}', sh, '{{n}}']\nparameters: {{n: 1..1000000}}\nsearch: random\n"
                    f"prior: {{use: none}}\nbudget: {{trials: {TASKS}}}\nparallel: {slots}\n")
        data = os.path.join(work, "server")
        env = dict(os.environ, ASSAY_SERVER=f"unix:{data}/assay.sock", XDG_STATE_HOME=work)
        at = ["--store", "memory"] if store == "memory" else []
        server = subprocess.Popen([ASSAY, "server", "--data", data, "--local-slots", str(slots)] + at, env=env,
                                  stdout=subprocess.DEVNULL)
        try:
            for _ in range(600):
                ready = subprocess.run([ASSAY, "workers", "ls", "--json"], env=env, capture_output=True, text=True).stdout
                if '"ready"' in ready:
                    break
                time.sleep(0.1)
            subprocess.run([ASSAY, "tune", study, "--on", "fleet"], env=env, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            subprocess.run([ASSAY, "workers", "evict", "local"], env=env, check=True, stdout=subprocess.DEVNULL)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()

    return run


SYSTEMS = [
    # name, survivors of the death of the server, folder of its files, how it runs tasks
    ("assay, --store memory", "nothing", MEMORY, assay("memory")),
    ("HyperQueue", "nothing", MEMORY, hyperqueue),
    ("Dask distributed", "nothing", MEMORY, dask),
    ("assay, SQLite on a disk", "every finished task", None, assay("sqlite")),
]


def measure(name, where, slots):
    """Returns when each task ran, in nanoseconds."""
    work = tempfile.mkdtemp(prefix="assay-peers-", dir=where)
    path = os.path.join(work, "starts")
    try:
        done = subprocess.run([sys.executable, *sys.argv[:4], name, path, str(slots), work], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{name}: {done.stdout}{done.stderr}")
        at = started(path)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if len(at) < TASKS:
        sys.exit(f"{name}: {len(at)} of {TASKS} tasks ran")
    return at


def main():
    if ONE:
        name, path, slots, work = ONE
        {s[0]: s[3] for s in SYSTEMS}[name](path, int(slots), work)
        return
    best = {}
    print("load", *os.getloadavg(), flush=True)
    for _ in range(ROUNDS):
        for slots in (1, 8):
            for name, _, where, _ in SYSTEMS:
                at = measure(name, where, slots)
                rate = (len(at) - 1) / ((at[-1] - at[0]) / 1e9)
                between = statistics.median(b - a for a, b in zip(at, at[1:])) / 1e6
                old = best.get((name, slots), (0, 1e9))
                best[name, slots] = max(old[0], rate), min(old[1], between)
    print(f"{'system':26} {'survives':20} {'slots':>5} {'tasks/s':>8} {'p50 ms':>8}")
    for slots in (1, 8):
        for name, keeps, _, _ in SYSTEMS:
            rate, between = best[name, slots]
            p50 = f"{between:8.2f}" if slots == 1 else f"{'':8}"
            print(f"{name:26} {keeps:20} {slots:5} {rate:8.0f} {p50}")
    print("load", *os.getloadavg())


if __name__ == "__main__":
    main()
