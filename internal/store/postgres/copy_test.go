package postgres

import (
	"path/filepath"
	"testing"

	"github.com/assay-run/assay/internal/store/sqlite"
	"github.com/assay-run/assay/store"
)

// From a file to a database and back, a study is the same bytes and the same hashes.
func TestCopy(t *testing.T) {
	ctx := t.Context()
	files := make([]*sqlite.Store, 2)
	for i, name := range []string{"a.db", "b.db"} {
		var err error
		if files[i], err = sqlite.Open(ctx, filepath.Join(t.TempDir(), name), sqlite.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { files[i].Close() })
	}
	db := openTest(t, freshAddress(t))
	if err := files[0].Create(ctx, "a", []byte{0, 255, 'x'}); err != nil {
		t.Fatal(err)
	}
	if err := db.Create(ctx, "b", nil); err != nil { // so that the numbers of studies differ
		t.Fatal(err)
	}
	const trials = 300
	for id := int64(1); id <= trials; id++ {
		if err := put(ctx, files[0], "a", id); err != nil {
			t.Fatal(err)
		}
	}
	for _, way := range [][2]store.Copier{{files[0], db}, {files[0], db}, {db, files[1]}} {
		if c, err := store.Copy(ctx, way[0], way[1], "a"); err != nil || c.Events != 2*trials || c.More != 0 {
			t.Fatalf("got %+v, %v", c, err)
		}
	}
	var want []store.Record
	for r, err := range files[0].Records(ctx, "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, r)
	}
	for what, s := range map[string]store.Copier{"database": db, "file": files[1]} {
		n := 0
		for r, err := range s.Records(ctx, "a", 0) {
			if err != nil || string(r.Hash) != string(want[n].Hash) || string(r.Payload) != string(want[n].Payload) {
				t.Fatalf("%s: record %d differs, %v", what, n, err)
			}
			n++
		}
		if n != len(want) {
			t.Errorf("%s: %d records, want %d", what, n, len(want))
		}
	}
	if n := checkPairs(t, db, "a"); n != trials {
		t.Errorf("got %d trials, want %d", n, trials)
	}
	if _, err := db.Append(ctx, "a", 2*trials, pair(trials+1)...); err != nil { // it can be gone on with
		t.Error(err)
	}
	checkFsck(t, db)
}
