"""On-line tuning for Python programs, in one file, with the standard library.

    import assay_online, time

    with assay_online.Client(rank=0, default={"block": 64}) as tuner:
        for step in range(1000):
            config = tuner.fetch()
            t0 = time.perf_counter()
            iterate(config["block"])
            tuner.report(time.perf_counter() - t0)

The server is found by $ASSAY_ONLINE (unix:PATH or http://127.0.0.1:PORT; for
the latter $ASSAY_TOKEN_FILE names the file with the token). Nothing here ends
the program or makes it wait long: the last configuration stays without a
server. The client prints that once on standard error, and looks for the server
again after 1 s, 2 s, ... at most 30 s. A Client belongs to one thread.
docs/format/online.md describes the messages.
"""

import http.client
import json
import math
import os
import secrets
import socket
import stat
import sys
import time

__all__ = ["Client"]

_FIRST_RETRY, _LAST_RETRY = 1.0, 30.0


class _Refused(Exception):
    def __init__(self, code, detail):
        super().__init__(detail)
        self.code = code


class _Unix(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("assay", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def _token(path):
    with open(path, encoding="ascii") as f:
        if stat.S_IMODE(os.fstat(f.fileno()).st_mode) & 0o077:
            raise ValueError(f"others can read {path} (chmod 600)")
        return f.read().strip()


class Client:
    """One rank of a program that is tuned while it runs."""

    def __init__(self, rank=0, default=None, address=None, token=None, timeout=2.0, log=None):
        """default is the configuration until the first fetch succeeds; log is
        called with one line of text at a time, instead of standard error."""
        self.config = dict(default or {})
        self._rank, self._instance, self._timeout = rank, secrets.token_hex(16), timeout
        self._log = log or (lambda line: print(line, file=sys.stderr, flush=True))
        self._connection = None
        self._joined = self._over = self._lost = False
        self._turn = self._retry = self._pause = 0
        self._headers = {}
        self._address = address or os.environ.get("ASSAY_ONLINE", "")
        try:
            if not self._address:
                raise ValueError("neither an address nor ASSAY_ONLINE is given")
            if not self._address.startswith(("unix:", "http://")):
                raise ValueError(f"{self._address!r} is neither unix:PATH nor http://HOST:PORT")
            if not token and os.environ.get("ASSAY_TOKEN_FILE"):
                token = _token(os.environ["ASSAY_TOKEN_FILE"])
        except (OSError, ValueError) as e:
            self._say(f"{e}: running untuned")
            self._address = ""
        if token:
            self._headers["Authorization"] = "Bearer " + token

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def fetch(self):
        """Return the configuration for the next iteration, a dict."""
        self._turn = 0
        if not self._address or self._over or self._lost and time.monotonic() < self._retry:
            return self.config
        try:
            answer = self._call("fetch")
            self.config, self._turn = answer["config"], answer["turn"]
        except (_Refused, OSError, http.client.HTTPException, ValueError, KeyError) as e:
            self._trouble(e)
            return self.config
        if self._lost:
            self._lost, self._pause = False, 0
            self._say("the server is back")
        return self.config

    def report(self, seconds):
        """Report how long the iteration of the last fetch took. Raises ValueError
        for a time that no iteration can take; nothing is sent then."""
        seconds = float(seconds)
        if not (seconds >= 0 and math.isfinite(seconds)):
            raise ValueError(f"an iteration of {seconds} seconds")
        self._tell({"seconds": seconds})

    def fail(self, reason):
        """Report that the configuration of the last fetch cannot run, and why."""
        self._tell({"failed": str(reason)[:1000] or "failed"})

    def close(self):
        """Leave the session."""
        if self._joined and not self._over and self._connection is not None:
            try:
                self._post("leave", {"instance": self._instance})
            except (_Refused, OSError, http.client.HTTPException, ValueError):
                pass
        self._hang_up()

    def _tell(self, outcome):
        if not self._turn:
            return
        body = {"instance": self._instance, "turn": self._turn, **outcome}
        self._turn = 0
        try:
            self._post("report", body)
        except _Refused as e:
            if e.code == "ended":  # else it was given up meanwhile: it is measured again
                self._trouble(e)
        except (OSError, http.client.HTTPException, ValueError) as e:
            self._trouble(e)

    def _call(self, name):
        for again in (False, True):
            if not self._joined:
                self._post("join", {"rank": self._rank, "instance": self._instance})
                self._joined = True
            try:
                return self._post(name, {"instance": self._instance})
            except _Refused as e:
                if again or e.code != "not-joined":
                    raise
            except (OSError, http.client.HTTPException):
                if again:
                    raise
            self._joined = False  # a server that was replaced, or a connection that was cut

    def _post(self, name, body):
        if self._connection is None:
            if self._address.startswith("unix:"):
                self._connection = _Unix(self._address[5:], self._timeout)
            else:
                host = self._address[len("http://"):].split("/")[0]
                self._connection = http.client.HTTPConnection(host, timeout=self._timeout)
        try:
            text = json.dumps(body, separators=(",", ":"))
            self._connection.request("POST", "/v1/online/" + name, text.encode(), self._headers)
            response = self._connection.getresponse()
            answer = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError):
            self._hang_up()
            raise
        if response.status != 200:
            raise _Refused(answer.get("code", response.status), answer.get("detail", "refused"))
        return answer

    def _hang_up(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _trouble(self, e):
        if isinstance(e, _Refused) and e.code == "ended":
            self._over = True
            self._hang_up()
            self._say("the session has ended: keeping the last configuration")
            return
        if not self._lost:
            self._say(f"{e or type(e).__name__}: going on with the last configuration")
        self._lost, self._joined = True, False
        self._pause = min(max(2 * self._pause, _FIRST_RETRY), _LAST_RETRY)
        self._retry = time.monotonic() + self._pause

    def _say(self, text):
        self._log(f"assay: rank {self._rank}: {text}")
