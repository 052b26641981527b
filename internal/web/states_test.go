package web_test

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/setup"
)

// two is a study of two objectives.
const two = `
name: two
command: [encode, --level, "{level}", in, out]
parameters: {level: {type: int, min: 1, max: 19}}
metrics: {size: {stdout: "size ([0-9]+)", unit: B}}
objective: {minimize: [elapsed, size]}
budget: {trials: 40}
`

// states are the states of a study, and the text that its page begins with in each.
var states = []struct {
	name, text string
	record     func(t *testing.T, store *setup.Store, name string)
}{
	{"empty", "no trial has ended yet", func(t *testing.T, store *setup.Store, name string) { newRecord(t, store, name) }},
	{"failed", "No run has worked", func(t *testing.T, store *setup.Store, name string) {
		r := newRecord(t, store, name)
		for range 3 {
			p, asked := r.ask()
			r.append(asked, assay.Event{At: r.at, Told: &assay.Trial{
				Proposal: p, State: assay.Failed, Value: math.Inf(1), Reason: "exit code 1: no such device",
				Started: r.at, Ended: r.at,
			}})
		}
	}},
	{"one", "the default is the best", func(t *testing.T, store *setup.Store, name string) {
		newRecord(t, store, name).run(1)
	}},
	{"running", "Running", func(t *testing.T, store *setup.Store, name string) {
		r := newRecord(t, store, name)
		r.run(25)
		for i := range 2 {
			p, asked := r.ask()
			asked.At = time.Now().Add(-time.Duration(20+30*i) * time.Second)
			r.append(asked, assay.Event{
				At: asked.At, Spent: r.spent,
				Started: &assay.Start{RunID: assay.RunID{Trial: p.ID}, Worker: "rack2-07", MachineClass: "a"},
			})
		}
	}},
	{"ended", "pairs", func(t *testing.T, store *setup.Store, name string) {
		r := newRecord(t, store, name)
		r.run(150)
		r.again(0.9)
	}},
	{"front", "front", func(t *testing.T, store *setup.Store, name string) {
		r := newRecordOf(t, store, name, two)
		for range 30 {
			p, asked := r.ask()
			level := p.Config[0]
			took := time.Duration((2 + level) * float64(time.Second))
			began := r.at.Add(r.spent)
			r.spent += took
			r.append(asked, assay.Event{At: r.at.Add(r.spent), Spent: r.spent, Told: &assay.Trial{
				Proposal: p, State: assay.Done, Value: took.Seconds(), Started: began, Ended: r.at.Add(r.spent),
				Measurement: assay.Measurement{Elapsed: took, Metrics: map[string]float64{"size": 1e6 / (1 + level)}},
			}})
		}
	}},
	{"many", "The command", func(t *testing.T, store *setup.Store, name string) {
		newRecord(t, store, name).run(2_000) // TestManyTrials has 100,000
	}},
}

// A study has a page in each of its states. The page begins with the state, fits its window, and has no fault.
// `make pictures` keeps pictures of all of them, in three sizes and two themes.
func TestStates(t *testing.T) {
	t.Parallel()
	store := memory(t)
	for _, s := range states {
		s.record(t, store, s.name)
	}
	url := ui(t, store)
	b := browser.Open(t)
	b.Visit(url)
	b.Wait(`document.title === "Studies - assay"`)
	all := os.Getenv("ASSAY_PICTURES") != ""
	look := func(name, path, text string, width int64, dark bool) {
		b.Size(width, max(width*9/16, 800))
		b.Theme(dark)
		b.Go(base(url) + path)
		b.Wait(fmt.Sprintf(`document.querySelector("main").innerText.includes(%s)`, browser.Quote(text)))
		if path != "/" {
			b.Wait(`document.documentElement.dataset.drawn === "true"`)
		}
		if w := browser.Eval[int64](b, `document.documentElement.scrollWidth`); w > width {
			t.Errorf("%s is %d wide, the window %d", name, w, width)
		}
		if all { // a chart is drawn when it is looked at
			for k := range browser.Eval[int](b, `document.querySelectorAll("[data-draw]").length`) {
				browser.Eval[bool](b, fmt.Sprintf(
					`document.querySelectorAll("[data-draw]")[%d].scrollIntoView({block: "center"}), true`, k))
				b.Frame()
			}
			browser.Eval[bool](b, `scrollTo(0, 0), true`)
		}
		b.Picture(fmt.Sprintf("state-%s-%d-%s", name, width, map[bool]string{true: "dark", false: "light"}[dark]))
	}
	for i, width := range []int64{390, 1280, 1920} {
		for _, dark := range []bool{false, true} {
			for k, s := range states {
				if all || (i+k)%3 == 0 && dark == (k%2 == 0) { // else each state at one size and in one theme
					look(s.name, "/s/"+s.name, s.text, width, dark)
				}
			}
			if all || i == 0 && dark {
				look("studies", "/", "ended", width, dark)
			}
		}
	}
}
