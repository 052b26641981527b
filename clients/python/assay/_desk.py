"""The connection to a study: the command assay with its store, or a server."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import secrets
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import time
import urllib.parse
from typing import Any, Dict, List, Optional, Tuple


class AssayError(Exception):
    """An error that assay reported."""


class UsageError(AssayError, ValueError):
    """A mistake in a request. Nothing was changed."""


class NotFound(UsageError, KeyError):
    """The study or trial does not exist."""

    __str__ = Exception.__str__


class Command:
    """The command assay, and studies in its store."""

    def __init__(self, store: Optional[str] = None, program: Optional[str] = None) -> None:
        # Beside this Python too: a wheel puts the command there, and no activated environment is needed.
        beside = os.path.dirname(sys.executable or "")
        found = program or os.environ.get("ASSAY_PROGRAM") or shutil.which("assay") or shutil.which("assay", path=beside)
        if not found:
            raise AssayError("the command assay is not in PATH (program=..., or server=... for a server)")
        self.program, self.store = found, store

    def _run(self, *args: str, stdin: str = "") -> str:
        argv = [self.program, *args]
        if self.store:
            argv += ["--store", self.store]
        # The command has a session of its own: Ctrl-C ends the script and does not interrupt the command.
        p = subprocess.run(argv, input=stdin, capture_output=True, encoding="utf-8", start_new_session=True)
        if p.returncode == 0:
            return p.stdout
        text = p.stderr.strip()
        text = text[7:] if text.startswith("assay: ") else text
        raise (UsageError if p.returncode == 2 else AssayError)(text or f"{self.program} ended with {p.returncode}")

    def _lines(self, *args: str, stdin: str = "") -> List[Dict[str, Any]]:
        return [json.loads(line) for line in self._run(*args, stdin=stdin).splitlines()]

    def open(self, name: str, definition: Dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory(prefix="assay-") as d:
            path = os.path.join(d, "study.yaml")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(definition, f)  # which is YAML, too
            self._run("ask", path, "--study", name, "--open", "--json", "--wait", "1m")

    def spec(self, name: str) -> Dict[str, Any]:
        for row in self._lines("study", "ls", "--json"):
            if row["study"] == name:
                spec: Dict[str, Any] = json.loads(self._run("study", "show", name, "--json"))["spec"]
                return spec
        raise NotFound(f"no study {name!r} on record")

    def ask(self, name: str, n: int, again: Optional[float]) -> Tuple[List[Dict[str, Any]], bool]:
        """Return trials, and whether the study is over if there are fewer than n."""
        more = [] if again is None else ["--again", f"{again:f}s"]
        trials = self._lines("ask", name, "-n", str(n), "--json", "--wait", "1m", *more)
        return trials, not trials and not self.in_flight(name)

    def in_flight(self, name: str) -> List[Dict[str, Any]]:
        return self._lines("ask", name, "--open", "--json", "--wait", "1m")

    def tell(self, name: str, results: List[Dict[str, Any]]) -> Dict[str, Any]:
        text = "".join(json.dumps(r, allow_nan=False) + "\n" for r in results)
        told: Dict[str, Any] = json.loads(self._run("tell", name, "--json", "--wait", "1m", stdin=text))
        return told

    def withdraw(self, name: str, age: float) -> List[Dict[str, Any]]:
        return self._lines("ask", name, "--withdraw", f"{age:f}s", "--json", "--wait", "1m")

    def trials(self, name: str) -> List[Dict[str, Any]]:
        return self._lines("study", "trials", name, "--json")

    def answer(self, name: str) -> Optional[Dict[str, Any]]:
        answer: Optional[Dict[str, Any]] = json.loads(self._run("study", "show", name, "--json")).get("answer")
        return answer

    def report(self, name: str) -> str:
        return self._run("report", name, "-o", "-")


class _Unix(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("assay", timeout=timeout)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Server:
    """A server at unix:/PATH, or at https://HOST:PORT with a token."""

    def __init__(self, address: str, token_file: Optional[str] = None, ca_file: Optional[str] = None,
                 timeout: float = 60) -> None:
        self.address, self.timeout = address, timeout
        self.bearer = self.ca = ""
        self.context: Optional[ssl.SSLContext] = None
        token_file = token_file or os.environ.get("ASSAY_TOKEN_FILE")
        if token_file:
            self._token(token_file)
        if address.startswith("unix:/"):
            return
        url = urllib.parse.urlsplit(address)
        if url.scheme != "https" or not url.hostname or url.path not in ("", "/"):
            raise UsageError(f"{address}: not the address of a server: unix:/PATH or https://HOST:PORT")
        if not self.bearer:
            raise UsageError(f"{address}: a token is needed (token_file=...)")
        self.host, self.port = url.hostname, url.port or 443
        if ca_file or not self.ca:
            self.context = ssl.create_default_context(cafile=ca_file)

    def _token(self, path: str) -> None:
        with open(path, encoding="ascii") as f:
            if stat.S_IMODE(os.fstat(f.fileno()).st_mode) & 0o077:
                raise UsageError(f"others can read {path} (chmod 600)")
            part = f.read().strip().split(".")
        if len(part) not in (3, 4) or part[0] != "assay-user-v1":
            raise UsageError(f"{path}: not a client's token, as assay token add prints it")
        self.bearer, self.ca = part[1] + "." + part[2], part[3].lower() if len(part) == 4 else ""

    def _pinned(self) -> ssl.SSLContext:
        """Return a context that trusts only the authority whose fingerprint is in the token.

        The server presents its authority. The client compares its SHA-256 with the token, then opens a new connection
        and verifies it against that authority.
        """
        look = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        look.check_hostname, look.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection((self.host, self.port), self.timeout) as plain:
            with look.wrap_socket(plain, server_hostname=self.host) as s:
                of: Any = s if hasattr(s, "get_unverified_chain") else getattr(s, "_sslobj", None)
                if not hasattr(of, "get_unverified_chain"):
                    raise UsageError("this Python cannot read the authority of a server: name it by ca_file=...")
                chain = [c if isinstance(c, bytes) else c.public_bytes(2) for c in of.get_unverified_chain() or []]
        for der in chain:
            if hashlib.sha256(der).hexdigest() == self.ca:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.load_verify_locations(cadata=der)
                return context
        raise UsageError("the token is from another server: the authorities differ")

    def _connect(self) -> http.client.HTTPConnection:
        if self.address.startswith("unix:"):
            return _Unix(self.address[5:], self.timeout)
        if self.context is None:
            self.context = self._pinned()
        return http.client.HTTPSConnection(self.host, self.port, timeout=self.timeout, context=self.context)

    def _call(self, method: str, path: str, body: Optional[Dict[str, Any]] = None) -> bytes:
        headers = {"Accept": "*/*"}
        if self.bearer:
            headers["Authorization"] = "Bearer " + self.bearer
        if body is not None:
            # A repeated request has the same key, so the server executes it once.
            headers.update({"Content-Type": "application/json", "Idempotency-Key": secrets.token_hex(16)})
        for last, wait in ((False, 0.2), (False, 1.0), (False, 3.0), (True, 0.0)):
            c = None
            try:
                c = self._connect()
                text = None if body is None else json.dumps(body, allow_nan=False)
                c.request(method, "/api/v1" + path, text, headers)
                r = c.getresponse()
                data = r.read()
                if r.status < 300:
                    return data
                if r.status == 503 and not last:
                    time.sleep(wait)
                    continue
                raise self._refused(r.status, data)
            except ssl.SSLError as e:
                raise AssayError(f"{self.address}: {e}") from None
            except (OSError, http.client.HTTPException) as e:
                if last:
                    raise AssayError(f"no server answers at {self.address}: {e}") from None
            finally:
                if c is not None:
                    c.close()
            time.sleep(wait)
        raise AssertionError

    def _refused(self, status: int, data: bytes) -> AssayError:
        try:
            p = json.loads(data)
            faults = (f"{f.get('location', '')}: {f['message']}" for f in p.get("errors") or [])
            text = "; ".join([p["detail"], *faults])
            if p.get("hint"):
                text += f" ({p['hint']})"
        except (ValueError, KeyError, TypeError):
            text = f"the server answers {status}"
        kinds = {404: NotFound, 409: UsageError, 413: UsageError, 422: UsageError}
        return kinds.get(status, AssayError)(text)

    def _get(self, path: str) -> Any:
        return json.loads(self._call("GET", path))

    @staticmethod
    def _of(name: str, rest: str = "") -> str:
        return "/studies/" + urllib.parse.quote(name, safe="") + rest

    def open(self, name: str, definition: Dict[str, Any]) -> None:
        self._call("POST", "/studies", {"name": name, "file": json.dumps(definition), "asked": True})

    def spec(self, name: str) -> Dict[str, Any]:
        spec: Dict[str, Any] = self._get(self._of(name) + "?brief=true")["spec"]
        return spec

    def ask(self, name: str, n: int, again: Optional[float]) -> Tuple[List[Dict[str, Any]], bool]:
        body: Dict[str, Any] = {"n": n}
        if again is not None:
            body["again_s"] = again
        a = json.loads(self._call("POST", self._of(name, "/ask"), body))
        return a["trials"], bool(a["ended_by"])

    def in_flight(self, name: str) -> List[Dict[str, Any]]:
        trials: List[Dict[str, Any]] = self._get(self._of(name, "/asked"))["trials"]
        return trials

    def tell(self, name: str, results: List[Dict[str, Any]]) -> Dict[str, Any]:
        told: Dict[str, Any] = json.loads(self._call("POST", self._of(name, "/tell"), {"results": results}))
        return told

    def withdraw(self, name: str, age: float) -> List[Dict[str, Any]]:
        back: List[Dict[str, Any]] = json.loads(self._call("POST", self._of(name, "/recall"), {"age_s": age}))["trials"]
        return back

    def trials(self, name: str) -> List[Dict[str, Any]]:
        rows: List[Dict[str, Any]] = []
        after = 0
        while True:
            page = self._get(self._of(name, f"/trials?limit=1000&after={after}"))
            rows += page.get("rows") or []
            after = page["next"]
            if not after:
                return rows

    def answer(self, name: str) -> Optional[Dict[str, Any]]:
        answer: Optional[Dict[str, Any]] = self._get(self._of(name, "/answer")).get("answer")
        return answer

    def report(self, name: str) -> str:
        return self._call("GET", self._of(name, "/report")).decode("utf-8")
