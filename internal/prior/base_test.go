package prior

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/store"
)

// A counted record counts how often the events of a study are read.
type counted struct {
	*store.Mem
	reads map[string]int
}

func newRecord() *counted { return &counted{store.NewMem(), map[string]int{}} }

func (c *counted) Events(ctx context.Context, study string, after assay.Position) iter.Seq2[assay.Event, error] {
	c.reads[study]++
	return c.Mem.Events(ctx, study, after)
}

// define reads a definition of a program of two parameters.
func define(t testing.TB, text string) *spec.Study {
	t.Helper()
	def, _, err := spec.Parse("f.yaml",
		[]byte("command: [prog, '{n}', '{c}']\nparameters: {n: 1..40, c: [a, b]}\n"+text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func running(t testing.TB, def *spec.Study) Running {
	t.Helper()
	space, err := def.Space()
	if err != nil {
		t.Fatal(err)
	}
	goal, err := def.Goal()
	if err != nil {
		t.Fatal(err)
	}
	return Running{Study: def, Space: space, Goal: goal}
}

// put puts a study with n trials on record, whose value at x is f(x); more trials if
// it is there.
func put(t testing.TB, r *counted, name string, def *spec.Study, n int, f func(x float64) float64) {
	t.Helper()
	stored, err := json.Marshal(def)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Create(t.Context(), name, stored); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	end := assay.Position(0)
	for range r.Mem.Events(t.Context(), name, 0) {
		end++
	}
	for i := range n {
		id := int64(end)/2 + 1
		p := assay.Proposal{ID: id, Config: assay.Config{float64(1 + (int(id)*7+i*13)%40), float64(id % 2)}}
		end, err = r.Append(t.Context(), name, end,
			assay.Event{At: time.Unix(id, 0), Asked: &p},
			assay.Event{At: time.Unix(id, 1), Told: &assay.Trial{
				Proposal: p, State: assay.Done,
				Value: f(p.Config[0]) + p.Config[1],
			}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func hill(x float64) float64   { return 10 + (x-11)*(x-11)/20 }
func valley(x float64) float64 { return 40 - (x-11)*(x-11)/30 }

func open(t testing.TB, r Record, dir string) *Base {
	t.Helper()
	kb, err := Open(t.Context(), r, dir)
	if err != nil {
		t.Fatal(err)
	}
	return kb
}

// A kept base is not read from the events again until a study has grown or is
// another one. A base that is damaged, of another version or gone is made again.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	index, trials := filepath.Join(dir, "index.json"), filepath.Join(dir, "study-one.trials")
	damage := func(file string, edit func([]byte) []byte) func(*testing.T, *counted) {
		return func(t *testing.T, _ *counted) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, edit(b), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(b []byte) []byte {
		b = slices.Clone(b)
		b[len(b)/2] ^= 1
		return b
	}
	replace := func(old, now string) func([]byte) []byte {
		return func(b []byte) []byte {
			if !strings.Contains(string(b), old) {
				t.Fatalf("no %s in %s", old, b)
			}
			return []byte(strings.Replace(string(b), old, now, 1))
		}
	}
	for _, c := range []struct {
		name  string
		act   func(*testing.T, *counted)
		reads int // of the study one
	}{
		{"nothing", func(*testing.T, *counted) {}, 0},
		{"grown", func(t *testing.T, r *counted) { put(t, r, "one", define(t, ""), 5, hill) }, 1},
		{"made anew", func(t *testing.T, r *counted) {
			if err := r.Remove(t.Context(), "one"); err != nil {
				t.Fatal(err)
			}
			put(t, r, "one", define(t, ""), 30, hill)
		}, 1},
		{"other grown", func(t *testing.T, r *counted) { put(t, r, "two", define(t, ""), 1, hill) }, 0},
		{"trials damaged", damage(trials, flip), 1},
		{"trials cut", damage(trials, func(b []byte) []byte { return b[:len(b)-9] }), 1},
		{"trials empty", damage(trials, func([]byte) []byte { return nil }), 1},
		{"trials of another version", damage(trials, replace("assay-t1", "assay-t0")), 1},
		{"trials of before", func(t *testing.T, r *counted) {
			before, err := os.ReadFile(trials)
			if err != nil {
				t.Fatal(err)
			}
			put(t, r, "one", define(t, ""), 5, hill)
			open(t, r, dir)
			if err := os.WriteFile(trials, before, 0o600); err != nil {
				t.Fatal(err)
			}
		}, 1},
		{"trials gone", func(t *testing.T, _ *counted) { os.Remove(trials) }, 1},
		{"index of another version", damage(index, replace(`"version":1`, `"version":0`)), 1},
		{"index cut", damage(index, func(b []byte) []byte { return b[:len(b)/2] }), 1},
		{"index of a space that is not there", damage(index, replace(`"space":0`, `"space":7`)), 1},
		{"index with a null", damage(index, replace(`"studies":[`, `"studies":[null,`)), 1},
		{"index gone", func(t *testing.T, _ *counted) { os.Remove(index) }, 1},
		{"all gone", func(t *testing.T, _ *counted) { os.RemoveAll(dir) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			os.RemoveAll(dir)
			r := newRecord()
			put(t, r, "one", define(t, ""), 30, hill)
			put(t, r, "two", define(t, ""), 30, hill)
			open(t, r, dir)
			c.act(t, r)
			clear(r.reads)
			kb := open(t, r, dir)
			s, _, err := kb.study(t.Context(), "one", -1)
			if err != nil {
				t.Fatal(err)
			}
			if r.reads["one"] != c.reads {
				t.Errorf("the events were read %d times, want %d", r.reads["one"], c.reads)
			}
			// The kept trials, whatever they are, match the events.
			truth := open(t, r, "")
			want, _, err := truth.study(t.Context(), "one", -1)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(s.Trials, want.Trials, func(a, b assay.Trial) bool {
				return a.ID == b.ID && a.Value == b.Value && a.State == b.State && a.Config.Equal(b.Config)
			}) {
				t.Errorf("trials %v, want %v", s.Trials, want.Trials)
			}
			if a, b := kb.studies["one"], truth.studies["one"]; !slices.Equal(a.Print, b.Print) ||
				a.Told != b.Told || a.Metric != b.Metric {
				t.Errorf("the index says %+v, want %+v", a, b)
			}
		})
	}
}

// A study that is removed is forgotten, with its file.
func TestForgotten(t *testing.T) {
	dir, r := t.TempDir(), newRecord()
	put(t, r, "a/b c", define(t, ""), 10, hill)
	open(t, r, dir)
	if files, _ := filepath.Glob(filepath.Join(dir, "study-*.trials")); len(files) != 1 {
		t.Fatalf("files %q", files)
	}
	if err := r.Remove(t.Context(), "a/b c"); err != nil {
		t.Fatal(err)
	}
	if kb := open(t, r, dir); len(kb.studies) != 0 {
		t.Errorf("known: %v", kb.studies)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "study-*")); len(files) != 0 {
		t.Errorf("files %q", files)
	}
}

// A base that can keep nothing works, and leaves nothing behind.
func TestNothingCanBeKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRecord()
	put(t, r, "one", define(t, ""), 10, hill)
	kb := open(t, r, filepath.Join(file, "below"))
	if s, _, err := kb.study(t.Context(), "one", 4); err != nil || len(s.Trials) != 4 {
		t.Errorf("%d trials, %v", len(s.Trials), err)
	}
}

// A study that serves no other has a reason: it cannot be read, or its trials are not its own.
func TestFlaws(t *testing.T) {
	r := newRecord()
	put(t, r, "good", define(t, ""), 10, hill)
	if err := r.Create(t.Context(), "unread", []byte(`{"version":99}`)); err != nil {
		t.Fatal(err)
	}
	odd := define(t, "")
	odd.Params = odd.Params[:1]
	put(t, r, "odd", odd, 3, hill)
	kb := open(t, r, t.TempDir())
	for name, want := range map[string]string{
		"good": "", "unread": "version 99",
		"odd": "its trials are not of its parameters",
	} {
		if flaw := kb.studies[name].Flaw; (flaw == "") != (want == "") || !strings.Contains(flaw, want) {
			t.Errorf("%s: flaw %q, want %q", name, flaw, want)
		}
	}
	found, notes, err := kb.Resolve(t.Context(), running(t, define(t, "prior: [unread, odd, good]\n")))
	if err != nil || len(found) != 1 || found[0].Name != "good" || len(notes) != 3 ||
		!strings.HasPrefix(notes[0], `not used: study "unread": `) {
		t.Errorf("found %+v, notes %q, %v", found, notes, err)
	}
	if _, err := kb.Similar(t.Context(), "odd"); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("similar to one with a flaw: %v", err)
	}
	// Withdrawn trials are no evidence of the program.
	before := len(must(kb.told(t.Context(), "good")))
	p := assay.Proposal{ID: 11, Config: assay.Config{1, 0}}
	_, err = r.Append(t.Context(), "good", 20, assay.Event{Asked: &p},
		assay.Event{Told: &assay.Trial{Proposal: p, State: assay.Withdrawn, Value: math.Inf(1)}})
	if err != nil {
		t.Fatal(err)
	}
	if after := len(must(kb.told(t.Context(), "good"))); after != before {
		t.Errorf("%d trials, with a withdrawn one %d", before, after)
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func TestResolve(t *testing.T) {
	r := newRecord()
	put(t, r, "one", define(t, ""), 20, hill)
	put(t, r, "two", define(t, ""), 20, hill)
	put(t, r, "rss", define(t, "objective: {minimize: max_rss}\n"), 20, hill)
	other := define(t, "")
	other.Command[0] = "/opt/other"
	put(t, r, "other", other, 20, hill)
	online := define(t, "")
	online.SetOnline()
	put(t, r, "online", online, 20, hill)
	kb := open(t, r, t.TempDir())
	for _, c := range []struct {
		asks  string
		found []string
		note  string // the last one
	}{
		{"", nil, ""},
		{"prior: none\n", nil, ""},
		{"prior: auto\n", []string{"one", "two"}, "2 earlier studies help"},
		{"prior: one\n", []string{"one"}, `study "one" helps`},
		{"prior: [rss]\n", nil, "no earlier study on record serves"},
		{"prior: [other, two]\n", []string{"other", "two"}, "2 earlier studies help"},
	} {
		found, notes, err := kb.Resolve(t.Context(), running(t, define(t, c.asks)))
		var names []string
		for _, f := range found {
			names = append(names, f.Name)
		}
		last := ""
		if len(notes) > 0 {
			last = notes[len(notes)-1]
		}
		if err != nil || !slices.Equal(names, c.found) || last != c.note {
			t.Errorf("%s: %q, notes %q, %v", c.asks, names, notes, err)
		}
	}
	_, _, err := kb.Resolve(t.Context(), running(t, define(t, "prior: nobody\n")))
	if assay.ClassOf(err) != assay.ClassUsage || !strings.HasPrefix(err.Error(), "f.yaml:3:8: --prior nobody") {
		t.Errorf("one that there is not: %v", err)
	}
}

// A study that helped counts as it was then, however it has grown. It is missed if it is
// another study now.
func TestStudies(t *testing.T) {
	r := newRecord()
	put(t, r, "one", define(t, ""), 20, hill)
	found, _, err := open(t, r, "").Resolve(t.Context(), running(t, define(t, "prior: auto\n")))
	if err != nil {
		t.Fatal(err)
	}
	put(t, r, "one", define(t, ""), 9, valley)
	studies, err := open(t, r, t.TempDir()).Studies(t.Context(), found)
	if err != nil || len(studies) != 1 || len(studies[0].Trials) != 20 {
		t.Errorf("%d studies, %v", len(studies), err)
	}
	for want, change := range map[string]func(){
		"which is gone":           func() {},
		"which is another one no": func() { put(t, r, "one", define(t, ""), 20, valley) },
	} {
		if err := r.Remove(t.Context(), "one"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		change()
		if _, err := open(t, r, "").Studies(t.Context(), found); assay.ClassOf(err) != assay.ClassUsage ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestSimilar(t *testing.T) {
	r := newRecord()
	put(t, r, "self", define(t, ""), 30, hill)
	put(t, r, "like", define(t, ""), 30, func(x float64) float64 { return 3 * hill(x) })
	put(t, r, "unlike", define(t, ""), 30, valley)
	put(t, r, "flat", define(t, ""), 30, func(float64) float64 { return 1 })
	put(t, r, "rss", define(t, "objective: {minimize: max_rss}\n"), 30, hill)
	list, err := open(t, r, t.TempDir()).Similar(t.Context(), "self")
	if err != nil || len(list) != 4 {
		t.Fatalf("%d, %v", len(list), err)
	}
	if list[0].Study != "like" || *list[0].Correlation < 0.9 || list[0].Estimate || list[0].Trials != 30 {
		t.Errorf("the first is %+v", list[0])
	}
	at := func(name string) Similar {
		return list[slices.IndexFunc(list, func(s Similar) bool { return s.Study == name })]
	}
	if s := at("unlike"); s.Correlation == nil || *s.Correlation > -0.5 {
		t.Errorf("unlike: %+v", s)
	}
	if s := at("rss"); s.Correlation != nil || !strings.Contains(s.Reason, "its objective is max_rss, not elapsed") {
		t.Errorf("rss: %+v", s)
	}
	if _, err := open(t, r, "").Similar(t.Context(), "nobody"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nobody: %v", err)
	}
	// The far ones of very many are estimated by their fingerprints.
	for i := range comparedStudies + 5 {
		put(t, r, fmt.Sprintf("more-%02d", i), define(t, ""), 12, hill)
	}
	if list, err = open(t, r, "").Similar(t.Context(), "self"); err != nil || len(list) != comparedStudies+9 {
		t.Fatalf("%d, %v", len(list), err)
	}
	estimated := 0
	for _, s := range list {
		if s.Estimate {
			estimated++
		}
	}
	if estimated == 0 || at("like").Estimate {
		t.Errorf("%d are estimated", estimated)
	}
	// Those that do not fit take no place among the compared ones, however many they are (S3): a study of
	// other ranges, which only its trials can be compared by, is compared.
	for i := range comparedStudies + 5 {
		put(t, r, fmt.Sprintf("a-%02d", i), define(t, "objective: {minimize: max_rss}\n"), 12, hill)
	}
	if list, err = open(t, r, "").Similar(t.Context(), "self"); err != nil || at("like").Estimate ||
		at("like").Correlation == nil {
		t.Errorf("like among many that do not fit: %+v, %v", at("like"), err)
	}
	for i := range comparedStudies + 5 {
		if s := at(fmt.Sprintf("a-%02d", i)); !strings.Contains(s.Reason, "its objective is max_rss") {
			t.Errorf("%+v: not why it does not serve", s)
		}
	}
	if spread := spreadOf(make([]assay.Trial, 500), 200); len(spread) != 200 {
		t.Errorf("%d of 500 trials, want 200", len(spread))
	}
}
