package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/setup"
)

// maxHelpers is how many names of earlier studies are listed.
const maxHelpers = 8

// cuts returns what earlier studies removed from the space of a study, and what
// came back, in order.
func (r *record) cuts(ctx context.Context, h *setup.Store) ([]assay.Cut, error) {
	if len(r.study.Prior.Resolved) == 0 {
		return nil, nil
	}
	var cuts []assay.Cut
	for e, err := range h.Events(ctx, r.name, 0) {
		if err != nil {
			return nil, err
		}
		if e.Cut != nil {
			cuts = append(cuts, *e.Cut)
		}
	}
	return cuts, nil
}

// describePrior says which earlier studies help and what they pruned.
func (r *record) describePrior(l *lines, cuts []assay.Cut) {
	helpers := r.study.Prior.Resolved
	if len(helpers) == 0 {
		return
	}
	var names []string
	for _, p := range helpers[:min(len(helpers), maxHelpers)] {
		names = append(names, fmt.Sprintf("%s (%d trials)", p.Name, p.Trials))
	}
	if n := len(helpers) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	l.add("helped by", "%s", strings.Join(names, ", "))
	for i, c := range cuts {
		label := ""
		if i == 0 {
			label = "pruned"
		}
		l.add(label, "%s", r.cutText(c))
	}
}

// cutText describes a cut in one line.
func (r *record) cutText(c assay.Cut) string {
	values := c.Param + "=" + strings.Join(c.Values, ",")
	if c.Restored {
		return fmt.Sprintf("%s is back: %s (%s)", values, c.Reason, c.Study)
	}
	return fmt.Sprintf("%s by %s (correlation %.2f, alpha %.2f): nothing with it reached %s there; %s",
		values, c.Study, c.Correlation, c.Alpha, showMetric(r.goal.Show(c.Threshold), r.goal.Unit), c.Reason)
}
