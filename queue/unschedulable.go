package queue

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// unschedulableAfter is for how many leases a study must have something open that nobody can run before
// it is said. A worker that is away is there for as long.
const unschedulableAfter = 2

// look notes since when something of each study is open that no worker can run.
func (k *roster) look(studies map[string]*member, now time.Time) {
	for _, m := range studies {
		switch {
		case len(m.open) == 0 || m.held || k.slotsOf(m, now) > 0:
			m.stuck = time.Time{}
		case m.stuck.IsZero():
			m.stuck = now
		}
	}
}

// Unschedulable says, for people, that no worker can run what is open of a study, and what the workers
// have. It is "" unless that has been so for two leases: a minute by default.
func (f *Fleet) Unschedulable(study string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.studies[study]
	if m == nil {
		return ""
	}
	return f.unschedulable(m, f.now())
}

// unschedulable is Unschedulable of a study.
func (k *roster) unschedulable(m *member, now time.Time) string {
	if m.stuck.IsZero() || now.Sub(m.stuck) < unschedulableAfter*k.lease || k.slotsOf(m, now) > 0 {
		return ""
	}
	apps, classes, machines := map[string]bool{}, map[string]string{}, map[string]bool{}
	idle := 0 // have what is needed, and take nothing
	for _, w := range k.workers {
		fits := w.has(m.App) && m.takes(w.Class)
		if w.order.idle() || !k.there(w, now) {
			if fits {
				idle++
			}
			continue
		}
		machines[w.Class] = true
		for _, name := range w.Apps {
			apps[name] = true
		}
		if w.has(m.App) {
			classes[w.Class] = w.Machine
		}
	}
	if m.class == "" {
		machines = nil
	}
	text := unschedulableText(m, slices.Sorted(maps.Keys(apps)), classes, len(machines) > 0 && !machines[m.class])
	if idle > 0 {
		text += fmt.Sprintf("; draining, set aside or away: %d that could", idle)
	}
	return text
}

// unschedulableText says what is lacking, and what there is: apps of any workers, and classes, with their
// machines, of those that have the application. unclassed says that nobody is of the class.
func unschedulableText(m *member, apps []string, classes map[string]string, unclassed bool) string {
	what := "has the application " + m.App
	if m.App == Commands {
		what = "accepts commands"
	}
	switch {
	case len(apps) == 0:
		return "there is no worker"
	case len(classes) > 0:
		var there []string
		for _, class := range slices.Sorted(maps.Keys(classes)) {
			there = append(there, fmt.Sprintf("%s (%s)", class, classes[class]))
		}
		who := "no worker of the class " + m.class
		if unclassed {
			return who + " is there: what " + what + " is of " + strings.Join(there, ", ")
		}
		return who + " " + what + ": those that do are of " + strings.Join(there, ", ")
	}
	return "no worker " + what + ": there is " + strings.Join(apps, ", ")
}
