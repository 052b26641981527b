package result

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// WriteCSV writes a header and a row for each trial that has ended: id, state, the parameters, the metrics in lexical
// order, reason, started and ended. A metric with the name of a parameter is called metric.NAME. Cells are formatted by
// [report.SheetCell].
func (r *Record) WriteCSV(ctx context.Context, w io.Writer) error {
	seen := map[string]bool{}
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return err
		}
		for m := range assay.MetricsOf(t, r.Goal) {
			seen[m] = true
		}
	}
	metrics := slices.Sorted(maps.Keys(seen))
	out := sheet{csv.NewWriter(w)}
	if err := out.Write(r.csvHeader(metrics)); err != nil {
		return err
	}
	for t, err := range r.Trials(ctx) {
		if err != nil {
			return err
		}
		if !t.State.Final() {
			continue
		}
		row := []string{fmt.Sprint(t.ID), t.State.String()}
		for i, p := range r.Params {
			cell := "" // not in force
			if assay.Active(r.Params, t.Config, i) {
				cell = p.Text(t.Config[i])
			}
			row = append(row, cell)
		}
		of := assay.MetricsOf(t, r.Goal)
		for _, m := range metrics {
			cell := ""
			if v, ok := of[m]; ok {
				cell = assay.FormatNumber(v)
			}
			row = append(row, cell)
		}
		row = append(row, t.Reason, t.Started.Format(time.RFC3339Nano), t.Ended.Format(time.RFC3339Nano))
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// A sheet is a CSV file for spreadsheets.
type sheet struct{ *csv.Writer }

// Write writes a row, which it changes.
func (s sheet) Write(row []string) error {
	for i, cell := range row {
		row[i] = report.SheetCell(cell)
	}
	return s.Writer.Write(row)
}

func (r *Record) csvHeader(metrics []string) []string {
	header := []string{"id", "state"}
	for _, p := range r.Params {
		header = append(header, p.Name)
	}
	for _, m := range metrics {
		if slices.Contains(header, m) {
			m = "metric." + m
		}
		header = append(header, m)
	}
	return append(header, "reason", "started", "ended")
}
