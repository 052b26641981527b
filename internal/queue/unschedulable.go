package queue

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// unschedulableAfter is the number of leases for which a study must have an open attempt without a possible worker
// before this is reported. It is also how long an absent worker counts as present.
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

// Unschedulable returns a message for users that no worker can run the open attempts of a study, with the capabilities
// of the workers. It is "" unless that has been so for two leases: a minute by default.
func (f *Fleet) Unschedulable(study string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.studies[study]
	if m == nil {
		return ""
	}
	return f.unschedulable(m, f.o.Now())
}

// unschedulable is Unschedulable of a study.
func (k *roster) unschedulable(m *member, now time.Time) string {
	if m.stuck.IsZero() || now.Sub(m.stuck) < unschedulableAfter*k.lease || k.slotsOf(m, now) > 0 {
		return ""
	}
	apps, classes, machines := map[string]bool{}, map[string]string{}, map[string]bool{}
	idle := 0 // workers that could run it, but take no runs now
	for _, w := range k.workers {
		fits := w.has(m.App) && m.takes(w.MachineClass)
		if w.order.idle() || !k.there(w, now) {
			if fits {
				idle++
			}
			continue
		}
		machines[w.MachineClass] = true
		for _, name := range w.Apps {
			apps[name] = true
		}
		if w.has(m.App) {
			classes[w.MachineClass] = w.Machine
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

// unschedulableText describes the missing capability and the existing ones: apps of any workers, and classes, with
// their machines, of the workers that have the application. unclassed is true if no worker is of the class.
func unschedulableText(m *member, apps []string, classes map[string]string, unclassed bool) string {
	what, all := "has the application "+m.App, "have the application "+m.App
	if m.App == Commands {
		what, all = "accepts commands", "accept commands"
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
			return who + " is there: the workers that " + all + " are of " + strings.Join(there, ", ")
		}
		return who + " " + what + ": those that do are of " + strings.Join(there, ", ")
	}
	return "no worker " + what + ": there is " + strings.Join(apps, ", ")
}
