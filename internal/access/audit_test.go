package access_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/assay-run/assay/internal/access"
)

// The maker and the ender of a token are on record, durable with the change and without a secret; a change
// that was refused is not.
func TestAudit(t *testing.T) {
	dir := t.TempDir()
	tokens, err := access.OpenTokens(filepath.Join(dir, "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	secret, err := tokens.Add(access.Token{Name: "rack", Role: access.Worker, Apps: []string{"x264"}, By: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Add(access.Token{Name: "rack", Role: access.Admin, By: "mallory"}); err == nil {
		t.Error("a name twice")
	}
	if tokens.Revoke("nothing", "mallory") == nil {
		t.Error("revoked what is not there")
	}
	for range 2 { // the second time nothing changes
		if err := tokens.Revoke("rack", "bob"); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, access.AuditFile)
	all, err := access.OpenAudit(path).Entries(0)
	if err != nil || len(all) != 2 || all[0].By != "alice" || all[0].Do != access.TokenAdded || all[0].On != "rack" ||
		all[0].Role != access.Worker || len(all[0].Apps) != 1 || all[0].At.IsZero() || all[1].By != "bob" ||
		all[1].Do != access.TokenRevoked {
		t.Errorf("%+v %v", all, err)
	}
	b, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(b), secret) {
		t.Errorf("the audit has the secret: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	// Without an audit nothing changes.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Add(access.Token{Name: "other", Role: access.Viewer, By: "alice"}); err == nil {
		t.Error("a token that is not on record")
	}
	if list, _ := tokens.List(); len(list) != 1 {
		t.Errorf("%d tokens", len(list))
	}
}

// Lines of many writers are whole, and a line that a crash has cut off spoils no other.
func TestAuditLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	if err := os.WriteFile(path, []byte(`{"at":"2026-01-01T00:00:00Z","by":"a","do":"token ad`), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		a := access.OpenAudit(path)
		wg.Go(func() {
			for range 5 {
				if err := a.Add(access.Decision{By: "x", Do: access.TokenAdded, On: strings.Repeat("n", 500)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	a := access.OpenAudit(path)
	if all, err := a.Entries(0); len(all) != 40 || err != nil {
		t.Errorf("%d entries, %v", len(all), err)
	}
	if all, err := a.Entries(3); len(all) != 3 || err != nil {
		t.Errorf("%d entries, %v", len(all), err)
	}
}
