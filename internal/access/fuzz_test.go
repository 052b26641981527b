package access

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of tokens lets no client in that has none of its secrets.
func FuzzTokensFile(f *testing.F) {
	f.Add([]byte(`{"version":1,"tokens":[{"name":"a","role":"admin","sha256":""}]}`), "")
	f.Add([]byte(`{"version":1,"tokens":null}`), "x")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, bearer string) {
		path := filepath.Join(dir, "tokens.json")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		tokens, err := OpenTokens(path)
		if err != nil {
			return
		}
		_, secret, _ := strings.Cut(bearer, ".")
		tok, ok := tokens.find(bearer)
		if ok && tok.SHA256 != hash(secret) {
			t.Errorf("%q is let in as %+v", bearer, tok)
		}
	})
}

// An audit with lines that are none has those that are.
func FuzzAudit(f *testing.F) {
	f.Add([]byte("{\"by\":\"a\",\"do\":\"token added\"}\n{"))
	f.Add([]byte("\n\x00\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, AuditFile)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		a := OpenAudit(path)
		before, err := a.Entries(0)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Add(Decision{By: "me", Do: TokenAdded}); err != nil {
			t.Fatal(err)
		}
		after, err := a.Entries(0)
		if err != nil || len(after) != len(before)+1 || after[len(before)].By != "me" {
			t.Errorf("%d entries became %d, %v", len(before), len(after), err)
		}
	})
}
