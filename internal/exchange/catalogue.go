package exchange

// This file asks installed programs for their settings, and writes these as the beginning of a
// study file: parameters with types, ranges, defaults and units, and the keys by which their values
// reach the program.
//
// No list of settings is kept here: a setting that a program does not report is not in its catalogue.
// Each program has a file with a function that asks it, which runs the program, and one that reads the
// answer, which is a pure function of the text. See docs/catalogue.md for the order.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// A Setting is something that can be set in a program.
type Setting struct {
	Name    string // as the program has it
	Kind    Kind
	Min     float64 // of a Number; -Inf and +Inf where the program gives no bound
	Max     float64
	Real    bool     // of a Number
	Values  []string // of a Choice, as they are passed to the program
	Default string   // "" where the program gives none
	Unit    string
	Restart string // when a new value holds, in words: "restart", "reload", ""
	Note    string // the program's description, in a few words
	// Rank orders the settings of a program by the program's own indication of how likely they are to be of
	// use. The least is the first. Bounded settings precede unbounded ones within a rank.
	Rank int
}

// Kind is the kind of values of a setting.
type Kind uint8

// The kinds of settings.
const (
	Choice Kind = iota // one of Values
	Number             // a digits in [Min, Max]
)

// A Catalogue is the settings of one program, and how their values reach it.
type Catalogue struct {
	Program  string
	Version  string
	Settings []Setting
	// Keys returns the other keys of the study, given the settings with the names of
	// their parameters, in the order of the settings.
	Keys func(settings []Named) string
	// confirm asks the program about a setting with an incomplete description: it returns the completed
	// setting, and whether it can be tuned. It is nil if nothing needs to be asked.
	confirm func(context.Context, Setting) (Setting, bool)
}

// Named is a setting with the name of its parameter.
type Named struct {
	Setting
	Param string
}

// A program is a row of the table of programs.
type program struct {
	name, summary string
	ask           func(ctx context.Context) (*Catalogue, error)
}

// programs is the table of programs that can be asked. To add one, add a row.
func programs() []program {
	return []program{
		{"gcc", "flags and --param of the C compiler gcc", askGCC},
		{"clang", "flags of the C compiler clang", askClang},
		{"postgresql", "settings of a PostgreSQL server", askPostgreSQL},
		{"jvm", "flags of the Java virtual machine", askJVM},
		{"sysctl", "settings of the Linux kernel", askSysctl},
		{"redis", "settings of a Redis server", askRedis},
	}
}

// Programs returns the names and one line about each.
func Programs() (rows [][2]string) {
	for _, p := range programs() {
		rows = append(rows, [2]string{p.name, p.summary})
	}
	return rows
}

// Ask asks an installed program. An error is of the class usage if there is no such row, or
// the program is not installed.
func Ask(ctx context.Context, name string) (*Catalogue, error) {
	var names []string
	for _, p := range programs() {
		if p.name == name {
			c, err := p.ask(ctx)
			if err != nil {
				return nil, err
			}
			// A default beyond the integers that a float64 holds exactly means "no limit", not a size.
			c.Settings = slices.DeleteFunc(c.Settings, func(s Setting) bool {
				d, err := strconv.ParseFloat(s.Default, 64)
				return s.Kind == Number && (err != nil || math.Abs(d) > 1e14)
			})
			c.sort()
			return c, nil
		}
		names = append(names, p.name)
	}
	return nil, assay.Errorf(assay.ClassUsage, "no catalogue of %q (there are %s)", name, strings.Join(names, ", "))
}

// sort brings the settings into their order: by rank, then those with bounds of the
// program's own, then by name.
func (c *Catalogue) sort() {
	slices.SortFunc(c.Settings, func(a, b Setting) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), -compareBool(a.bounded(), b.bounded()), cmp.Compare(a.Name, b.Name))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (s Setting) bounded() bool {
	return s.Kind == Choice || !math.IsInf(s.Min, 0) && !math.IsInf(s.Max, 0)
}

// Select keeps the settings whose names match one of the patterns (see [path.Match]; all without
// patterns), and of these the first top, if top is not 0. A pattern that matches nothing is an error of
// the class usage. Questions to the program about single settings are asked now, and only for the
// settings that are kept.
func (c *Catalogue) Select(ctx context.Context, patterns []string, top int) error {
	var kept []Setting
	hit := make([]bool, len(patterns))
	for _, s := range c.Settings {
		keep := len(patterns) == 0
		for i, p := range patterns {
			ok, err := path.Match(p, s.Name)
			if err != nil {
				return assay.Errorf(assay.ClassUsage, "%q is no pattern", p)
			}
			if ok || p == paramName(s.Name) {
				keep, hit[i] = true, true
			}
		}
		if keep {
			kept = append(kept, s)
		}
	}
	if i := slices.Index(hit, false); i >= 0 {
		return assay.Errorf(assay.ClassUsage, "%s has no setting %s that can be tuned", c.Program, patterns[i])
	}
	if top <= 0 {
		top = len(kept)
	}
	wanted := len(kept)
	if c.confirm != nil {
		kept = c.confirmed(ctx, kept, top)
	}
	if wanted > 0 && len(kept) == 0 {
		none := assay.Errorf(assay.ClassUsage, "%s takes none of %d settings for a program here", c.Program, wanted)
		return cmp.Or(ctx.Err(), none)
	}
	c.Settings = kept[:min(top, len(kept))]
	return ctx.Err()
}

// confirmed returns the settings that can be tuned, in their order, until there are enough. It asks
// as many at once as there are processors.
func (c *Catalogue) confirmed(ctx context.Context, all []Setting, enough int) (kept []Setting) {
	for batch := range slices.Chunk(all, 2*runtime.GOMAXPROCS(0)) {
		if ctx.Err() != nil || len(kept) >= enough {
			break
		}
		batch = slices.Clone(batch)
		good := make([]bool, len(batch))
		var wg sync.WaitGroup
		for i := range batch {
			wg.Go(func() { batch[i], good[i] = c.confirm(ctx, batch[i]) })
		}
		wg.Wait()
		for i, s := range batch {
			if good[i] {
				kept = append(kept, s)
			}
		}
	}
	return kept
}

// askTime is the longest that a program may take to answer.
const askTime = time.Minute

// output runs a program and returns its output.
func output(ctx context.Context, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if _, err := exec.LookPath(argv[0]); err != nil {
		return "", assay.Errorf(assay.ClassUsage, "%s is not installed, so its settings are unknown", argv[0])
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if last := assay.LastLine(errs.Bytes()); last != "" {
			err = errors.New(last)
		}
		return "", fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return out.String(), nil
}

// firstLine returns the first line of a text.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
