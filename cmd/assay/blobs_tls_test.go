package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/testbed"
)

// A cutter is a way to a server that breaks off. It passes at most down bytes from the server on one connection,
// and at most up bytes to the server on each of the first connections.
type cutter struct {
	net.Listener
	to         string
	down, up   int64
	uploads    atomic.Int32 // that are still to be cut
	cuts       atomic.Int32
	downloaded atomic.Int64
}

func newCutter(t *testing.T, to string, down, up int64, uploads int32) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, to: to, down: down, up: up}
	c.uploads.Store(uploads)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.carry(conn)
		}
	}()
	return c
}

func (c *cutter) carry(client net.Conn) {
	server, err := net.Dial("tcp", c.to)
	if err != nil {
		client.Close()
		return
	}
	end := sync.OnceFunc(func() { client.Close(); server.Close() })
	defer end()
	go func() {
		defer end()
		n, _ := io.CopyN(server, client, c.up)
		if n == c.up && c.uploads.Add(-1) >= 0 {
			c.cuts.Add(1)
			return
		}
		_, _ = io.Copy(server, client)
	}()
	n, err := io.CopyN(client, server, c.down)
	c.downloaded.Add(n)
	if err == nil {
		c.cuts.Add(1)
	}
}

// address is where the API is by this way.
func (c *cutter) address() string {
	_, port, _ := net.SplitHostPort(c.Addr().String())
	return "https://localhost:" + port
}

// A wired is a server that others reach, in a directory of its own, and the commands that run against it.
type wired struct {
	*testing.T
	dir, state string
	port       int
}

// twoPorts returns a port of which the one after it is free too.
func twoPorts(t *testing.T) int {
	t.Helper()
	for range 50 {
		a, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := a.Addr().(*net.TCPAddr).Port
		b, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+1))
		a.Close()
		if err == nil {
			b.Close()
			return port
		}
	}
	t.Fatal("no two ports are free")
	return 0
}

func (l *wired) command(args ...string) *exec.Cmd {
	cmd := exec.Command("assay", args...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+l.state, "HOME="+l.dir, "ASSAY_SERVER=", "ASSAY_TOKEN_FILE=")
	return cmd
}

// assay runs a command that must end with an exit code, and returns its output and its messages.
func (l *wired) assay(code int, args ...string) (string, string) {
	l.Helper()
	cmd := l.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	got := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		got = e.ExitCode()
	} else if err != nil {
		l.Fatal(err)
	}
	if got != code {
		l.Fatalf("assay %q: exit code %d, want %d\n%s%s", args, got, code, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// start starts a command that goes on until the test ends, and returns a function that ends it before.
// The test's log has its messages.
func (l *wired) start(args ...string) (said *lockedBuffer, stop func()) {
	l.Helper()
	cmd := l.command(args...)
	said = &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		l.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		_ = cmd.Wait()
		if l.Failed() {
			l.Logf("assay %q: %s", args, said)
		}
	})
	l.Cleanup(stop)
	return said, stop
}

// until waits for something that comes.
func (l *wired) until(what string, there func() bool) {
	l.Helper()
	for end := time.Now().Add(2 * time.Minute); !there(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			l.Fatal("not in two minutes: " + what)
		}
	}
}

// lockedBuffer is a buffer that a process writes to while the test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (l *wired) write(name, text string) {
	l.Helper()
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
		l.Fatal(err)
	}
}

// newWired starts a server with an authority, reached by TLS, that keeps so much.
func newWired(t *testing.T, quota string) *wired {
	t.Helper()
	dir := t.TempDir()
	l := &wired{T: t, dir: dir, state: filepath.Join(dir, "state"), port: twoPorts(t)}
	l.assay(0, "server", "init", "--name", "localhost")
	l.start("server", "--listen", fmt.Sprintf("127.0.0.1:%d", l.port), "--local-slots", "0", "--blobs", quota)
	l.until("the server answers", func() bool { return l.command("workers", "ls").Run() == nil })
	for name, role := range map[string]string{
		"viewer": "viewer", "author": "author", "rack": "worker",
		"other": "worker",
	} {
		out, _ := l.assay(0, "token", "add", "--name", name, "--role", role)
		l.write(name+".token", out)
	}
	return l
}

func (l *wired) url() string { return fmt.Sprintf("https://localhost:%d", l.port) }

// with appends how the server is reached with a token.
func (l *wired) with(token string, args ...string) []string {
	return append(args, "--server", l.url(), "--token-file", token+".token")
}

// worker starts a worker with a token, whose files come by another way.
func (l *wired) worker(token, files string, more ...string) (said *lockedBuffer, stop func()) {
	args := []string{
		"worker", "--server", fmt.Sprintf("tls://localhost:%d", l.port+1), "--token-file", token + ".token",
		"--accept-commands",
		"--name", token, "--data", "worker-" + token, "--api", files,
	}
	return l.start(append(args, more...)...)
}

// client is who has a token.
func (l *wired) client(token string) *api.Client {
	l.Helper()
	own, err := access.ReadCredential(filepath.Join(l.dir, token+".token"))
	if err != nil {
		l.Fatal(err)
	}
	c, err := api.NewClient(api.ClientOptions{Address: l.url(), Token: own.Bearer(), CA: own.CA})
	if err != nil {
		l.Fatal(err)
	}
	return c
}

// noiseBytes returns bytes that no compression makes fewer, and their SHA-256.
func noiseBytes(seed uint64, n int) ([]byte, string) {
	b := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{byte(seed)})
	_, _ = rng.Read(b)
	sum := sha256.Sum256(b)
	return b, hex.EncodeToString(sum[:])
}

// The way of files by TLS, between processes: a worker with its token fetches the inputs of its run over connections
// that all break off, each from where the last one did. The outputs of the run come back although their upload breaks
// off as well. No other client gets the files: another worker, a viewer, a revoked token, no token, or a server of
// another authority.
func TestFilesByTLS(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	l := newWired(t, "40M")
	const size = 6 << 20
	input, hash := noiseBytes(1, size)
	l.write("in.bin", string(input))
	l.write("files.yaml", `name: files
command: [sh, -c, 'sha256sum in.bin; head -c 3000000 in.bin >out.bin;
  while [ ! -e $0/go ]; do sleep 0.05; done', '`+l.dir+`', '{n}']
inputs: [in.bin]
outputs: [out.bin]
parameters: {n: 1..3}
search: random
stop: none
budget: {trials: 1}
`)
	t.Cleanup(func() { l.write("go", "") })
	cut := newCutter(t, fmt.Sprintf("127.0.0.1:%d", l.port), 1<<20, 1<<20, 2)
	l.worker("rack", cut.address())
	l.worker("other", l.url(), "--slots", "1")
	l.until("two workers", func() bool { out, _ := l.assay(0, "workers", "ls"); return strings.Count(out, "ready") == 2 })
	l.assay(0, "workers", "drain", "other")
	l.assay(0, l.with("author", "tune", "files.yaml", "--on", "fleet", "--detach")...)
	l.until("the input is there",
		func() bool { _, err := os.Stat(filepath.Join(l.dir, "worker-rack/runs/0/out.bin")); return err == nil })
	if got := cut.downloaded.Load(); cut.cuts.Load() < 5 || got < size || got > size*3/2 {
		t.Errorf("%d of %d bytes came over connections of which %d broke off: it does not go on where it ended", got, size,
			cut.cuts.Load())
	}
	// While the run goes on only its worker may have the input.
	for token, want := range map[string]assay.Class{
		"rack": 0, "other": assay.ClassNotFound, "viewer": assay.ClassUsage,
		"author": 0,
	} {
		c := l.client(token)
		f, err := c.Blob(t.Context(), hash, size-3, false)
		if assay.ClassOf(err) != want {
			t.Errorf("%s: %v", token, err)
		}
		if err == nil {
			if end, err := io.ReadAll(f); err != nil || !bytes.Equal(end, input[size-3:]) {
				t.Errorf("%s: %x, %v", token, end, err)
			}
			f.Close()
		}
		c.Close()
	}
	l.write("go", "")
	l.until("the output is here", func() bool {
		out, _ := l.assay(0, l.with("viewer", "study", "files", "files", "1", "--json")...)
		return strings.Contains(out, `"state":"here"`)
	})
	l.assay(0, l.with("viewer", "study", "files", "files", "1", "out.bin", "-o", "back.bin")...)
	if back, err := os.ReadFile(filepath.Join(l.dir, "back.bin")); err != nil || !bytes.Equal(back, input[:3_000_000]) {
		t.Errorf("%d bytes came back, %v", len(back), err)
	}
	if left := cut.uploads.Load(); left > 0 {
		t.Errorf("%d uploads were not cut", left)
	}
	// Once the run has ended the worker has no right to its input.
	c := l.client("rack")
	defer c.Close()
	if _, err := c.Blob(t.Context(), hash, 0, false); assay.ClassOf(err) != assay.ClassNotFound {
		t.Errorf("after the run: %v", err)
	}
	// A token that is revoked, and one of another authority.
	l.assay(0, "token", "revoke", "rack")
	l.until("the token is refused", func() bool {
		_, err := c.Blob(t.Context(), hash, 0, false)
		return err != nil && strings.Contains(err.Error(), "revoked")
	})
	l.until("the worker has the reason", func() bool {
		out, _ := l.assay(0, l.with("viewer", "workers", "ls")...)
		return strings.Contains(out, " is away since ") && strings.Contains(out, ": its token was revoked or expired")
	})
	foreign := newWired(t, "1M")
	if _, errs := l.assay(1, "study", "ls", "--server", foreign.url(), "--token-file",
		"viewer.token"); !strings.Contains(errs, "authority") {
		t.Errorf("a server of another authority: %s", errs)
	}
}

// A file without room is reported: an input and an output on the server, an input in the cache of a worker. A run
// that has ended counts all the same.
func TestFilesWithoutRoom(t *testing.T) {
	testbed.Outside(t)
	t.Parallel()
	l := newWired(t, "3M")
	input, _ := noiseBytes(2, 2<<20)
	l.write("in.bin", string(input))
	l.write("big.bin", string(input)+string(input))
	study := func(name, in string) {
		l.write(name+".yaml", `name: `+name+`
command: [sh, -c, '[ ! -e in.bin ] || tail -c +2 in.bin >out.bin; : $0', '{n}']
inputs: [`+in+`]
outputs: [out.bin]
parameters: {n: 1..3}
search: random
stop: none
budget: {trials: 1}
`)
	}
	study("large", "big.bin")
	if _, errs := l.assay(74, l.with("author", "tune", "large.yaml", "--on", "fleet")...); !strings.Contains(errs,
		"the blobs of the server are full") {
		t.Errorf("%s", errs)
	}
	if out, _ := l.assay(0, l.with("viewer", "study", "ls", "--json")...); out != "" {
		t.Errorf("there is %s", out)
	}
	study("left", "in.bin")
	said, stop := l.worker("rack", l.url())
	if out, _ := l.assay(0, l.with("author", "tune", "left.yaml", "--on", "fleet")...); !strings.Contains(out, "1 done") {
		t.Errorf("%s", out)
	}
	l.until("the worker says that there is no room", func() bool { return strings.Contains(said.String(), "full") })
	if out, _ := l.assay(0, l.with("viewer", "study", "files", "left", "1", "--json")...); !strings.Contains(out,
		`"state":"coming"`) {
		t.Errorf("%s", out)
	}
	stop()
	study("small", "in.bin")
	l.worker("other", l.url(), "--cache", "1M")
	if _, errs := l.assay(1, l.with("author", "tune", "small.yaml", "--on", "fleet")...); !strings.Contains(errs,
		"input in.bin has 2.0 MiB: the cache of this worker has 1.0 MiB") {
		t.Errorf("%s", errs)
	}
}
