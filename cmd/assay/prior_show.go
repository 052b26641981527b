package main

import (
	"fmt"
	"strings"

	"github.com/assay-run/assay"
)

// maxHelpers is how many names of earlier studies are listed.
const maxHelpers = 8

// describePrior says which earlier studies help and what they pruned.
func (r *record) describePrior(l *lines, cuts []assay.Cut) {
	helpers := r.Definition.Prior.Resolved
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
		values, c.Study, c.Correlation, c.Alpha, showMetric(r.Goal.Show(c.Threshold), r.Goal.Unit), c.Reason)
}
