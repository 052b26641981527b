package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/store/sqlite"
	"github.com/assay-run/assay/store"
)

// Fsck checks the store, and with repair rewrites all that is derived from the events. It writes the faults to w, and
// reports whether the store is now intact. A store that has nothing to check is an error of the class usage.
func (s *Store) Fsck(ctx context.Context, w io.Writer, repair bool) (ok bool, err error) {
	c, is := s.Store.(interface {
		Fsck(ctx context.Context, opts store.FsckOptions) (store.Report, error)
	})
	if !is {
		return false, usagef("this store has nothing to check")
	}
	r, err := c.Fsck(ctx, store.FsckOptions{Repair: repair})
	if err != nil {
		return false, err
	}
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintln(&b, p)
	}
	found := "ok"
	if !r.OK() {
		found = fmt.Sprintf("%d problems", len(r.Problems))
	}
	fmt.Fprintf(&b, "%s, %d events, %d trials checked: %s\n", report.Count(int(r.Studies), "study", "studies"), r.Events,
		r.Trials, found)
	_, err = io.WriteString(w, b.String())
	return r.OK(), err
}

// Salvage saves the intact events of the damaged store at an address into a new one next to it, and lists them on w
// by study. It does nothing for a database, which has its own tools. This process must have no handle of the store.
func Salvage(ctx context.Context, w io.Writer, at string) error {
	at, err := StorePath(at)
	if err != nil || at == "" {
		return err
	}
	dst := at + ".salvaged"
	for n := 2; ; n++ {
		if _, err := os.Lstat(dst); errors.Is(err, fs.ErrNotExist) {
			break
		}
		dst = fmt.Sprintf("%s.salvaged-%d", at, n)
	}
	saved, err := sqlite.Salvage(ctx, at, dst, sqlite.Options{})
	if err != nil {
		return err
	}
	var b strings.Builder
	events := int64(0)
	for _, r := range saved {
		events += r.Events
		fmt.Fprintf(&b, "%s: %d events saved", r.Study, r.Events)
		for i, gap := range r.Lost {
			fmt.Fprintf(&b, "%s %s", [2]string{", lost:", ","}[min(i, 1)], span(gap))
		}
		if r.Guessed {
			b.WriteString("; its name and specification are not certain")
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d events of %s saved in %s\n", events, report.Count(len(saved), "study", "studies"), dst)
	fmt.Fprintf(&b, "%s is left as it is\n", at)
	_, err = io.WriteString(w, b.String())
	return err
}

// span returns "7" or "7 to 9".
func span(gap [2]int64) string {
	if gap[0] == gap[1] {
		return fmt.Sprint(gap[0])
	}
	return fmt.Sprintf("%d to %d", gap[0], gap[1])
}
