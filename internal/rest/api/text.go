package api

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/view"
)

// This file writes answers of a server for people.

// Write writes the runs of a queue as a table, why some wait, and which trials can be restored.
func (q Queue) Write(w io.Writer, p report.Palette) error {
	var lacks []string
	t := report.NewTable(p, "trial", "state", "application", "worker", ">for", ">silent", "configuration")
	for _, e := range q.Entries {
		silent := ""
		if e.State == "placed" {
			silent = report.Seconds(e.Silent)
		}
		if line := e.Study + " waits: " + e.Lacks; e.Lacks != "" && !slices.Contains(lacks, line) {
			lacks = append(lacks, line)
		}
		t.Add(fmt.Sprintf("%s/%d", e.Study, e.Trial), e.State, e.App, e.Worker,
			report.Duration(time.Since(e.Since).Truncate(time.Second)), silent, e.Config)
	}
	err := t.WriteOr(w, "nothing waits, and nothing runs")
	if err == nil && q.Total > len(q.Entries) {
		_, err = fmt.Fprintf(w, "and %d more (--limit)\n", q.Total-len(q.Entries))
	}
	if len(q.Discarded) > 0 {
		lacks = append(lacks, restorable(q.Discarded))
	}
	return writeLines(w, lacks, err)
}

// writeLines writes lines, unless err is an error, and returns it.
func writeLines(w io.Writer, lines []string, err error) error {
	for _, line := range lines {
		if err == nil {
			_, err = fmt.Fprintln(w, report.Visible(line))
		}
	}
	return err
}

// restorable lists the discarded trials that can be restored.
func restorable(all []Discarded) string {
	const most = 5
	var names []string
	for _, d := range all[max(0, len(all)-most):] {
		names = append(names, fmt.Sprintf("%s/%d", d.Study, d.Trial))
	}
	if n := len(all) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("and %d before", n))
	}
	return "discarded, and can be restored: " + strings.Join(names, " ")
}

// WriteWorkers writes workers as a table, and for each why it is not ready.
func WriteWorkers(all []Worker, w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "worker", "state", ">slots", ">running", ">done", ">silent", "applications", "class",
		"machine")
	var reasons []string
	for _, a := range all {
		t.Add(a.Name, a.State, fmt.Sprint(a.Slots), fmt.Sprint(a.Running), fmt.Sprint(a.Done), report.Seconds(a.Silent),
			strings.Join(a.Apps, " "), a.MachineClass, a.Machine)
		reasons = append(reasons, a.Reasons()...)
	}
	return writeLines(w, reasons, t.WriteOr(w, "no worker has connected (assay worker --help)"))
}

// WriteTokens writes tokens as a table.
func WriteTokens(all []Token, w io.Writer, p report.Palette) error {
	table := report.NewTable(p, "name", "role", "studies", "applications", "expires")
	for _, t := range all {
		expires := "never"
		if t.Expires != nil {
			expires = t.Expires.Local().Format("2006-01-02 15:04")
		}
		table.Add(t.Name, string(t.Role), cmp.Or(strings.Join(t.Studies, " "), "all"), strings.Join(t.Apps, " "), expires)
	}
	return table.WriteOr(w, "no tokens yet")
}

// WriteAudit writes the entries of an audit as a table.
func WriteAudit(all []Decision, w io.Writer, p report.Palette) error {
	table := report.NewTable(p, "at", "by", "what", "on", "role", "studies", "applications")
	for _, e := range all {
		table.Add(e.At.Local().Format(time.DateTime), e.By, e.Do, e.On, string(e.Role), strings.Join(e.Studies, " "),
			strings.Join(e.Apps, " "))
	}
	return table.WriteOr(w, "nothing yet")
}

// WriteStudies writes the studies of a server as a table.
func WriteStudies(all []view.Study, w io.Writer, p report.Palette) error {
	t := report.NewTable(p, "study", "state", ">priority", ">running", ">trials", ">best", "objective", ">spent",
		">saved", ">lost", "application", "class")
	for _, st := range all {
		best := "–"
		if st.Best != nil {
			best = report.Metric(*st.Best, st.Unit)
		}
		t.Add(st.Study, st.State, strconv.Itoa(st.Priority), strconv.Itoa(st.Running), strconv.FormatInt(st.Trials, 10),
			best, st.Objective, report.Seconds(st.Spent), report.Seconds(st.Saved), report.Seconds(st.Lost), st.App,
			st.MachineClass)
	}
	return t.WriteOr(w, "no studies yet (assay tune STUDY.yaml --on fleet)")
}

// ParseLasts reads how long a token lasts, which may be in days.
func ParseLasts(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, assay.Errorf(assay.ClassUsage, "--expires %s: not a duration such as 12h or 90d", text)
	}
	return d, nil
}

// TrialsText returns "trial 3", or "4 trials".
func TrialsText(ids []int64) string {
	if len(ids) == 1 {
		return "trial " + strconv.FormatInt(ids[0], 10)
	}
	return strconv.Itoa(len(ids)) + " trials"
}
