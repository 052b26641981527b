"""Asks a server of a language model as 16 users at once, and prints the tokens a second and the slowest requests.

    python3 load.py llm.sock          a Unix socket
    python3 load.py 127.0.0.1:8080    llama-server, vLLM or another with the API of OpenAI
"""
import http.client
import json
import random
import socket
import sys
import threading
import time

USERS, REQUESTS = 16, 3
address = sys.argv[1]


class Local(http.client.HTTPConnection):
    """A connection to a Unix socket, or to a host and port."""

    def connect(self) -> None:
        if ":" in address:
            super().connect()
        else:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(address)


def user(number: int, took: list) -> None:
    r = random.Random(number)
    for _ in range(REQUESTS):
        prompt, tokens = " ".join(["word"] * r.choice([20, 100, 1500])), r.randint(10, 40)
        start = time.monotonic()
        c = Local(address if ":" in address else "localhost", timeout=60)
        c.request("POST", "/v1/completions", json.dumps({"prompt": prompt, "max_tokens": tokens}),
                  {"Content-Type": "application/json"})
        answer = json.load(c.getresponse())
        took.append((time.monotonic() - start, answer["usage"]["completion_tokens"]))


took: list = []
start = time.monotonic()
threads = [threading.Thread(target=user, args=(n, took)) for n in range(USERS)]
for t in threads:
    t.start()
for t in threads:
    t.join()
if len(took) < USERS * REQUESTS:
    sys.exit(f"{USERS * REQUESTS - len(took)} requests failed")
spent = time.monotonic() - start
times = sorted(t for t, _ in took)
print(f"tokens/s {sum(n for _, n in took) / spent:.1f}")
print(f"p95 {times[int(0.95 * len(times))]:.3f}")
