package online

import (
	"io"
	"math"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// Output returns the result of a session on space as data.
func (st Status) Output(space *assay.Space) map[string]any {
	out := map[string]any{
		"study": st.Study, "best": space.Values(st.Best), "trials": st.Trials, "turns": st.Turns, "steps": st.Steps,
		"total_seconds": st.Total, "found": !math.IsInf(st.Value, 0),
	}
	if !math.IsInf(st.Value, 0) {
		out["seconds"] = st.Value
	}
	return out
}

// WriteResult writes the result of a session on space for people.
func (st Status) WriteResult(w io.Writer, space *assay.Space) error {
	var l report.Lines
	if math.IsInf(st.Value, 0) {
		l.Add("best", "none: no iteration was reported")
	} else {
		l.Add("best", "%s", space.Text(st.Best))
		l.Add("iteration", "%s", report.Seconds(st.Value))
	}
	l.Add("trials", "%d, in %d turns of this session", st.Trials, st.Turns)
	if st.Mode != Free {
		l.Add("steps", "%d in %s: the sum of the slowest rank's times", st.Steps, report.Seconds(st.Total))
	}
	l.Add("on record", "as study %s", st.Study)
	return l.Write(w)
}
