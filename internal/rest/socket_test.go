package rest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDefaultSocket(t *testing.T) {
	for _, c := range []struct{ runtime, store, study, want string }{
		{"/run/user/7", "/home/me/assay.db", "heat", "/run/user/7/assay/heat.sock"},
		{"", "/home/me/assay.db", "heat", "/home/me/online/heat.sock"},
		{"relative", "/home/me/assay.db", "heat", "/home/me/online/heat.sock"},
		{"/r", "", "a/b c.é", "/r/assay/a_b_c._.sock"},
		{"/r", "", "..hidden", "/r/assay/hidden.sock"},
		{"/r", "", strings.Repeat("x", 100), "/r/assay/" + strings.Repeat("x", 48) + ".sock"},
	} {
		t.Setenv("XDG_RUNTIME_DIR", c.runtime)
		if got := DefaultSocket(c.store, c.study); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	if got := DefaultSocket("", "heat"); !strings.HasPrefix(got, filepath.Join(os.TempDir(), "assay-")) {
		t.Errorf("without a store and a directory: %s", got)
	}
}

// A token is made once, for this user alone, and is long.
func TestMakeToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for range 2 {
		if err := MakeToken(path); err != nil {
			t.Fatal(err)
		}
	}
	first, err := ReadToken(path)
	if err != nil || len(first) < 40 {
		t.Errorf("token of %d bytes, %v", len(first), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := MakeToken(filepath.Join(path, "below")); err == nil {
		t.Error("a token below a file")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := MakeToken(path); err != nil {
		t.Fatal(err)
	}
	if second, err := ReadToken(path); err != nil || second == first {
		t.Errorf("the same token twice, %v", err)
	}
}
