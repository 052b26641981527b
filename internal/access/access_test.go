package access

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

func open(t testing.TB) (*Tokens, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens.json")
	tokens, err := OpenTokens(path)
	if err != nil {
		t.Fatal(err)
	}
	return tokens, path
}

func add(t testing.TB, tokens *Tokens, tok Token) (bearer string) {
	t.Helper()
	secret, err := tokens.Add(tok)
	if err != nil {
		t.Fatal(err)
	}
	return tok.Name + "." + secret
}

// Each role has the rights of the roles before it; a worker is not in that order.
func TestRoles(t *testing.T) {
	people := []Role{Viewer, Operator, Author, Admin}
	for i, have := range people {
		for j, need := range people {
			if have.Includes(need) != (i >= j) {
				t.Errorf("%s for what needs %s: %v", have, need, i < j)
			}
		}
		if have.Includes(Worker) || Worker.Includes(have) || !Worker.Includes(Worker) {
			t.Errorf("%s and worker", have)
		}
		if Role("root").Includes(have) || have.Includes("root") || Role("").Includes("") {
			t.Errorf("a role that is none is one for %s", have)
		}
	}
}

// A scope is beginnings of names of studies.
func TestScope(t *testing.T) {
	tok := Token{Role: Operator, Scope: []string{"x264", "b-"}}
	for study, may := range map[string]bool{
		"x264": true, "x264-azure": true, "b-1": true, "b": false, "ax264": false,
		"X264": false,
	} {
		if tok.May(Operator, study) != may || tok.May(Viewer, study) != may {
			t.Errorf("%s: %v", study, !may)
		}
	}
	if tok.May(Author, "x264") {
		t.Error("a scope gives a role")
	}
	if tok.May(Operator, "") || !tok.May(Viewer, "") || !(Token{Role: Operator}).May(Operator, "") {
		t.Error("what concerns no study")
	}
}

// A token is valid from when it is made until it is revoked or has expired, also for a process that
// did not do it.
func TestLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens, path := open(t)
		bearer := add(t, tokens, Token{Name: "ci", Role: Author, Expires: time.Now().Add(time.Hour)})
		other, err := OpenTokens(path)
		if err != nil {
			t.Fatal(err)
		}
		check := func(want bool) {
			t.Helper()
			for i, s := range []*Tokens{tokens, other} {
				tok, err := s.Check(t.Context(), bearer, "here")
				if (err == nil) != want || err != nil && !errors.Is(err, ErrDenied) || want && tok.Role != Author {
					t.Errorf("process %d: %v, %v", i, tok, err)
				}
			}
		}
		check(true)
		time.Sleep(time.Hour - time.Second)
		check(true)
		time.Sleep(2 * time.Second)
		check(false)
		bearer = add(t, tokens, Token{Name: "ci", Role: Author}) // the name of one that has ended
		time.Sleep(freshFor)
		check(true)
		var ended []string
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { other.Watch(ctx, func(name string) { ended = append(ended, name) }) })
		time.Sleep(10 * time.Second)
		add(t, tokens, Token{Name: "brief", Role: Worker}) // made and revoked between two looks
		if err := tokens.Revoke("brief", "admin"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if err := tokens.Revoke("ci", "admin"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second) // the promise
		check(false)
		cancel()
		wg.Wait()
		if fmt.Sprint(ended) != "[brief ci]" {
			t.Errorf("told that %v ended", ended)
		}
		if err := tokens.Revoke("nobody", "admin"); assay.ClassOf(err) != assay.ClassNotFound {
			t.Error(err)
		}
		all, err := other.List()
		if err != nil || len(all) != 2 || all[1].Ended(time.Now()) != "revoked" {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// A token that takes the name of another one between two looks cuts off the clients of the other one.
func TestReplacedTokenIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens, _ := open(t)
		add(t, tokens, Token{Name: "w", Role: Worker})
		var ended []string
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { tokens.Watch(ctx, func(name string) { ended = append(ended, name) }) })
		time.Sleep(freshFor + freshFor/2)
		if err := tokens.Revoke("w", "admin"); err != nil {
			t.Fatal(err)
		}
		add(t, tokens, Token{Name: "w", Role: Worker})
		time.Sleep(5 * freshFor)
		cancel()
		wg.Wait()
		if fmt.Sprint(ended) != "[w]" {
			t.Errorf("told that %v ended", ended)
		}
	})
}

// Nothing but the whole secret of the name is taken.
func TestWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens, _ := open(t)
		a := add(t, tokens, Token{Name: "a", Role: Admin})
		b := add(t, tokens, Token{Name: "b", Role: Viewer})
		_, secret, _ := strings.Cut(b, ".")
		for i, wrong := range []string{
			"", ".", "a", "a.", a[:len(a)-1], a + "x", "a." + secret, "nobody." + secret, "." + secret, "a." + hash(secret),
			strings.ToUpper(a), " " + a, a + "\n", "nobody.nobody's",
		} {
			if tok, err := tokens.Check(t.Context(), wrong, fmt.Sprint(i)); !errors.Is(err, ErrDenied) {
				t.Errorf("%q: %v, %v", wrong, tok, err)
			}
		}
	})
}

// The file has no secret, is this user's alone, and survives whatever ends the process.
func TestFile(t *testing.T) {
	tokens, path := open(t)
	bearer := add(t, tokens, Token{Name: "a", Role: Admin})
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, secret, _ := strings.Cut(bearer, ".")
	if strings.Contains(string(b), secret) || !strings.Contains(string(b), hash(secret)) {
		t.Error("the file has the secret, or not its hash")
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".tmp-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenTokens(path); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("a file that others can read: %v", err)
	}
	for _, text := range []string{"", "{", `{"version":2}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Chmod(path, 0o600)
		if _, err := OpenTokens(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Processes that add tokens at once lose none.
func TestManyAdd(t *testing.T) {
	_, path := open(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			tokens, err := OpenTokens(path)
			if err != nil {
				t.Error(err)
				return
			}
			for j := range 5 {
				add(t, tokens, Token{Name: fmt.Sprintf("t%d-%d", i, j), Role: Worker})
			}
		})
	}
	wg.Wait()
	tokens, err := OpenTokens(path)
	if all, _ := tokens.List(); err != nil || len(all) != 40 {
		t.Errorf("%d tokens, %v", len(all), err)
	}
}

// An invalid token is refused.
func TestBadTokens(t *testing.T) {
	tokens, _ := open(t)
	add(t, tokens, Token{Name: "a", Role: Admin})
	for _, bad := range []Token{
		{Role: Admin},
		{Name: "a.b", Role: Admin},
		{Name: strings.Repeat("x", 41), Role: Admin},
		{Name: "x"},
		{Name: "x", Role: "root"},
		{Name: "x", Role: Worker, Scope: []string{"s"}},
		{Name: "x", Role: Admin, Apps: []string{"s"}},
		{Name: "x", Role: Worker, Apps: []string{"*"}},
		{Name: "x", Role: Viewer, Scope: []string{""}},
		{Name: "x", Role: Admin, Expires: time.Now().Add(-time.Second)},
	} {
		if _, err := tokens.Add(bad); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := tokens.Add(Token{Name: "a", Role: Viewer}); assay.ClassOf(err) != assay.ClassConflict {
		t.Errorf("a name in use: %v", err)
	}
}

// Wrong tokens from one place are answered 10 times a second; a right one, and one from elsewhere, is not
// held up by them.
func TestBruteForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { bruteForce(t, (*Tokens).Check) })
}

// Tokens that are looked up and no more can be guessed without end.
func TestBruteForceControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		testbed.Fails(t, "wrong tokens that wait for nothing", func(t testing.TB) {
			bruteForce(t, func(tokens *Tokens, _ context.Context, bearer, _ string) (Token, error) {
				if tok, ok := tokens.find(bearer); ok {
					return tok, nil
				}
				time.Sleep(time.Millisecond) // or a minute never ends
				return Token{}, ErrDenied
			})
		})
	})
}

func bruteForce(t testing.TB, check func(*Tokens, context.Context, string, string) (Token, error)) {
	t.Helper()
	tokens, _ := open(t)
	right := add(t, tokens, Token{Name: "a", Role: Admin})
	var answered, refused atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			for ctx.Err() == nil && answered.Load() < 10_000 {
				_, err := check(tokens, ctx, "a.wrong", "evil")
				switch {
				case errors.Is(err, ErrDenied):
					answered.Add(1)
				case assay.ClassOf(err) == assay.ClassUnavailable:
					refused.Add(1)
					time.Sleep(time.Second / 5)
				}
			}
		})
	}
	time.Sleep(time.Minute)
	began := time.Now()
	if _, err := check(tokens, ctx, right, "elsewhere"); err != nil || time.Since(began) > 0 {
		t.Errorf("a right token from elsewhere: %v after %v", err, time.Since(began))
	}
	cancel()
	wg.Wait()
	if n := answered.Load(); n < 590 || n > 620 {
		t.Errorf("%d wrong tokens were answered in a minute", n)
	}
	time.Sleep(time.Minute)
	began = time.Now()
	for range 10 {
		check(tokens, t.Context(), "a.wrong", "evil")
	}
	if took := time.Since(began); took > 0 {
		t.Errorf("10 wrong tokens after a pause took %v", took)
	}
	if _, err := check(tokens, t.Context(), right, "evil"); err != nil {
		t.Errorf("a right token after wrong ones: %v", err)
	}
}

func TestCredential(t *testing.T) {
	secret := strings.Repeat("aB3-_", 9)[:secretLen]
	ca := strings.Repeat("0f", 32)
	good := Credential{Kind: "worker", Name: "rack2", Secret: secret, CA: ca}
	if got, err := ParseCredential(good.String() + "\n"); err != nil || got != good {
		t.Errorf("%+v, %v", got, err)
	}
	if want := "assay-worker-v1.rack2." + secret + "." + ca; good.String() != want {
		t.Errorf("%s, not %s", good, want)
	}
	for _, bad := range []string{
		"", "x", "assay-worker-v2.a." + secret, "assay-worker-v1.a.b", "assay-worker-v1.." + secret,
		"assay-user-v1.a." + secret + ".12",
		"assay-user-v1.a." + secret + "." + ca + ".", "assay-user-v1.a b." + secret,
	} {
		_, err := ParseCredential(bad)
		if assay.ClassOf(err) != assay.ClassUsage || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	path := filepath.Join(t.TempDir(), "t")
	if _, err := ReadCredential(path); assay.ClassOf(err) != assay.ClassUsage {
		t.Error(err)
	}
	os.WriteFile(path, []byte(good.String()), 0o600)
	if got, err := ReadCredential(path); err != nil || got != good {
		t.Errorf("%+v, %v", got, err)
	}
	os.Chmod(path, 0o640)
	if _, err := ReadCredential(path); err == nil || !strings.Contains(err.Error(), "can be read by other users") {
		t.Error(err)
	}
}

// A client that pins an authority connects to its server by its name, and to no other.
func TestPinned(t *testing.T) {
	authority := func() *Authority {
		a, err := InitAuthority(t.TempDir(), "lab")
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	ours, others := authority(), authority()
	shake := func(a *Authority, hosts []string, pin, name string) error {
		server, err := a.ServerTLS(hosts...)
		if err != nil {
			t.Fatal(err)
		}
		c, s := net.Pipe()
		defer c.Close()
		go func() {
			conn := tls.Server(s, server)
			conn.Handshake()
			io.Copy(io.Discard, conn)
			conn.Close()
		}()
		client := Pinned(pin)
		client.ServerName = name
		c.SetDeadline(time.Now().Add(time.Minute))
		return tls.Client(c, client).Handshake()
	}
	hosts := []string{"lab.example", "127.0.0.1", "127.0.0.1"}
	for _, name := range hosts {
		if err := shake(ours, hosts, ours.Fingerprint(), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := shake(others, hosts, ours.Fingerprint(), "lab.example"); err == nil || !strings.Contains(err.Error(),
		"not the server") {
		t.Errorf("another authority: %v", err)
	}
	if err := shake(ours, hosts, ours.Fingerprint(), "evil.example"); err == nil || !strings.Contains(err.Error(),
		"certificate of the server") {
		t.Errorf("another name: %v", err)
	}
	if err := shake(ours, hosts, "", "lab.example"); err == nil {
		t.Error("no pin is any pin")
	}
}

// An authority is made once, kept by its owner alone, and read again.
func TestAuthority(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ca")
	if _, err := OpenAuthority(dir); assay.ClassOf(err) != assay.ClassUsage || assay.HintOf(err) == "" {
		t.Errorf("none there: %v", err)
	}
	a, err := InitAuthority(dir, "lab")
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenAuthority(dir)
	if err != nil || a.Fingerprint() != b.Fingerprint() || len(a.Fingerprint()) != 64 {
		t.Error(err)
	}
	if _, err := InitAuthority(dir, "lab"); assay.ClassOf(err) != assay.ClassConflict {
		t.Errorf("a second one: %v", err)
	}
	for _, f := range []string{"ca.key", "ca.pem"} {
		if info, _ := os.Stat(filepath.Join(dir, f)); info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", f, info.Mode())
		}
	}
	os.Chmod(filepath.Join(dir, "ca.key"), 0o644)
	if _, err := OpenAuthority(dir); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("a key that others can read: %v", err)
	}
}

// The certificate of a server that runs for long is renewed before it ends.
func TestRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := InitAuthority(t.TempDir(), "lab")
		if err != nil {
			t.Fatal(err)
		}
		conf, err := a.ServerTLS("lab")
		if err != nil {
			t.Fatal(err)
		}
		serials := map[string]bool{}
		for range 400 {
			cert, err := conf.GetCertificate(nil)
			if err != nil || time.Until(cert.Leaf.NotAfter) < 29*24*time.Hour {
				t.Fatal(err, cert.Leaf.NotAfter)
			}
			serials[cert.Leaf.SerialNumber.String()] = true
			time.Sleep(24 * time.Hour)
		}
		if n := len(serials); n < 6 || n > 8 {
			t.Errorf("%d certificates in 400 days", n)
		}
	})
}
