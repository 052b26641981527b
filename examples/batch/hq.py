#!/usr/bin/env python3
"""HyperQueue by its package for Python, if there is no hq: a server with one worker, and the calls of a template of commands.

    hq.py server DIR CPUS     a server and a worker of so many processors, until it is killed
    hq.py submit DIR NAME SCRIPT OUTPUT CWD [CPUS]
    hq.py list DIR

The package has no call that lists jobs or cancels one. So a file beside the server's keeps the names of jobs. The first
report of a wait for a job has its state.
"""
import fcntl
import os
import sys
import time


def server(where, cpus):
    from hyperqueue.cluster import LocalCluster, WorkerConfig

    cluster = LocalCluster(server_dir=where)
    cluster.start_worker(WorkerConfig(cores=int(cpus)))
    # Another server's numbers of jobs do not hold for this one.
    open(os.path.join(where, "names"), "w").close()
    print("ready", flush=True)
    while True:
        time.sleep(3600)


def connected(where):
    from hyperqueue.ffi.client import ClientConnection

    return ClientConnection(where)


def submit(where, name, script, output, cwd, cpus=1):
    from hyperqueue.ffi.protocol import JobDescription, ResourceRequest, TaskDescription
    from hyperqueue.output import StdioDef

    task = TaskDescription(
        id=0, args=["sh", script], cwd=cwd, stdout=StdioDef.from_path(output), stderr=StdioDef.from_path(output + ".err"), stdin=None, env={}, dependencies=[],
        task_dir=False, priority=0, resource_request=[ResourceRequest(cpus=int(cpus))], crash_limit=1,
    )
    number = connected(where).submit_job(JobDescription(name=name, tasks=[task], max_fails=None))
    with open(os.path.join(where, "names"), "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.write(f"{number} {name}\n")
    print(number)


def listed(where):
    connection = connected(where)  # fails where no server is
    with open(os.path.join(where, "names")) as f:
        names = dict(line.split() for line in f)
    if not names:
        print("no jobs")
        return

    def seen(jobs):
        for number, job in jobs.items():
            print(number, names[str(number)], "over" if job["completed"] else "open")
        sys.stdout.flush()
        os._exit(0)  # there is nothing to wait for

    connection.wait_for_jobs([int(n) for n in names], seen)


if __name__ == "__main__":
    what, where = sys.argv[1], os.path.abspath(sys.argv[2])
    {"server": server, "submit": submit, "list": listed}[what](where, *sys.argv[3:])
