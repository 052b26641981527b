"""A server of a language model without the model: it batches requests as real ones do, and sleeps as long as they would compute.

    python3 stub.py --socket llm.sock --parallel 4 --batch 512 --ubatch 128 --threads 4

It answers POST /v1/completions, so that load.py takes a real server in its place. A step of the model takes longer the more
requests it serves at once, but less than in proportion; a long prompt that is taken in one piece holds all others up.
"""
import argparse
import json
import os
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler


class Model:
    """Steps of all requests that are served at once."""

    def __init__(self, parallel: int, batch: int, ubatch: int, threads: int) -> None:
        self.free = threading.Semaphore(parallel)
        self.compute = threading.Lock()
        self.batch, self.ubatch, self.speed = batch, min(ubatch, batch), min(threads, 4) ** 0.7
        self.serving = 0

    def complete(self, prompt: int, tokens: int) -> None:
        with self.free:
            self.serving += 1
            for start in range(0, prompt, self.batch):
                piece = min(self.batch, prompt - start)
                calls = -(-piece // self.ubatch)
                with self.compute:  # no other request takes a step meanwhile
                    time.sleep((0.00004 * piece + 0.002 * calls) / self.speed)
            for _ in range(tokens):
                time.sleep((0.004 + 0.0012 * self.serving) / self.speed)
                with self.compute:
                    pass
            self.serving -= 1


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def do_POST(self) -> None:
        ask = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.model.complete(len(ask["prompt"].split()), ask["max_tokens"])
        body = json.dumps({"usage": {"completion_tokens": ask["max_tokens"]}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "client"

    def log_message(self, *_: object) -> None:
        pass


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads, request_queue_size = True, 128


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("--socket", required=True)
    for name in ("parallel", "batch", "ubatch", "threads"):
        p.add_argument("--" + name, type=int, required=True)
    given = p.parse_args()
    if os.path.exists(given.socket):
        os.remove(given.socket)
    with Server(given.socket, Handler) as server:
        server.model = Model(given.parallel, given.batch, given.ubatch, given.threads)
        print("ready", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
