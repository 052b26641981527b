package api

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rekeyed returns a server of fakes that remembers writes in a file.
func rekeyed(t *testing.T, file string) *rig {
	t.Helper()
	r := newRig(t)
	if err := r.Remember(file); err != nil {
		t.Fatal(err)
	}
	return r
}

// A write that comes again after a restart is answered as before, and not done again. One that was
// cut off with its server is not done again either, as the answer states. A secret is on no disk.
func TestKeysSurviveARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.jsonl")
	key := func(k string) http.Header { return http.Header{"Idempotency-Key": {k}} }
	path, body := prefix+"/studies/tuned/trials", `{"configs":[{"n":9}]}`
	tokens, token := prefix+"/tokens", `{"name":"new","role":"viewer"}`

	r := rekeyed(t, file)
	first := r.do(t, Operator, http.MethodPost, path, body, key("a"))
	made := r.do(t, Admin, http.MethodPost, tokens, token, key("t"))
	if first.status != 200 || made.status != 200 || !strings.Contains(made.body, "secret-new") {
		t.Fatal(first.status, made)
	}
	if again := r.do(t, Admin, http.MethodPost, tokens, token, key("t")); again.body != made.body {
		t.Errorf("the same server: %v", again)
	}
	b, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(b), "secret-new") || strings.Contains(string(b), "c2VjcmV0") {
		t.Errorf("%v\n%s", err, b)
	}

	r = rekeyed(t, file)
	before := r.state(t)
	if again := r.do(t, Operator, http.MethodPost, path, body, key("a")); again.body != first.body || again.status != 200 {
		t.Errorf("after a restart: %d %s", again.status, again.body)
	}
	if got := r.do(t, Operator, http.MethodPost, path, `{"configs":[{"n":8}]}`, key("a")); got.status != 409 {
		t.Errorf("another body under the same key: %d", got.status)
	}
	got := r.do(t, Admin, http.MethodPost, tokens, token, key("t"))
	if got.status != 409 || !strings.Contains(got.body, "was not kept") {
		t.Errorf("a secret, after a restart: %v", got)
	}
	if now := r.state(t); now != before {
		t.Errorf("done again: %s, then %s", before, now)
	}

	// The server dies while it answers: its last line is not there, or only half.
	r.do(t, Operator, http.MethodPost, path, body, key("b"))
	b, err = os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	last := lines[len(lines)-2]
	for _, left := range []int{0, len(last) / 2} {
		cut := strings.TrimSuffix(string(b), last) + last[:left]
		if err := os.WriteFile(file, []byte(cut), 0o600); err != nil {
			t.Fatal(err)
		}
		r = rekeyed(t, file)
		before = r.state(t)
		got := r.do(t, Operator, http.MethodPost, path, body, key("b"))
		if got.status != 409 || !strings.Contains(got.body, "look whether it was done") || r.state(t) != before {
			t.Errorf("with %d bytes of the last line: %v", left, got)
		}
	}
}

// A write that could not be carried out for now is made anew, after a restart too; after an hour any is.
func TestKeysThatAreFree(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.jsonl")
	now := time.Now()
	rs := newReplays(func() time.Time { return now })
	done := 0
	h := rs.wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if done++; done == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprint(w, done)
	}))
	ask := func(want int) {
		t.Helper()
		if err := rs.keep(file); err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest(http.MethodPost, prefix+"/studies", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Idempotency-Key", "k")
		w := &answered{header: http.Header{}}
		if h.ServeHTTP(w, req); string(w.body) != fmt.Sprint(want) {
			t.Errorf("answered %s, want %d", w.body, want)
		}
	}
	ask(1)
	ask(2)
	ask(2)
	now = now.Add(keepReplays + time.Second)
	ask(3)
}

// answered is an answer in memory.
type answered struct {
	header http.Header
	body   []byte
}

func (a *answered) Header() http.Header { return a.header }
func (a *answered) WriteHeader(int)     {}
func (a *answered) Write(b []byte) (int, error) {
	a.body = append(a.body, b...)
	return len(b), nil
}

// The file has the remembered writes, and no more than as much again, however many writes there are.
func TestKeysAreBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.jsonl")
	rs := newReplays(time.Now)
	if err := rs.keep(file); err != nil {
		t.Fatal(err)
	}
	long := []byte(strings.Repeat("x", 2000))
	var most int64
	for i := range 2 * mostReplays {
		k := replayKey{"ada", http.MethodPost, prefix + "/studies", fmt.Sprint(i)}
		mine, _, p := rs.begin(k, sha256.Sum256(long), false)
		if p != nil {
			t.Fatal(p)
		}
		rec := &recorder{ResponseWriter: &answered{header: http.Header{}}, status: 200}
		_, _ = rec.Write(long)
		rs.end(k, mine, rec)
		most = max(most, rs.file.size)
	}
	if limit := int64(2*mostReplays*4000 + slack); most > limit {
		t.Errorf("the file had %d bytes, more than %d", most, limit)
	}
	again := newReplays(time.Now)
	if err := again.keep(file); err != nil || len(again.known) < mostReplays/2 || len(again.known) > mostReplays {
		t.Errorf("%d are remembered, %v", len(again.known), err)
	}
}
