package workflow

import "github.com/assay-run/assay/internal/stats"

// sentBytes returns the bytes that the tasks of each level were seen to read and write, if the record's
// file sizes contradict them; nil if not.
//
// Makeflow writes sizes in kilobytes where WfFormat has bytes, and the sizes of folders in bytes: 900
// and 1900 times less than its tasks read and wrote (WfInstances, blast and bwa). Its manager sends each
// task a copy of its input, the reference data too, over its own link: of bwa's 14 hours on 96 cores,
// 3.7 are run time. The measured bytes show the amount.
func sentBytes(w *Workflow, level []int32, levels int) []Bytes {
	const low, high = 300, 3000 // of measured over recorded bytes; 1 if all is well
	var ratio []float64
	for i := range w.Tasks {
		t := &w.Tasks[i]
		if t.Out > 0 && t.Written > 0 {
			ratio = append(ratio, t.Written/t.Out)
		}
		if t.In > 0 && t.Read > 0 {
			ratio = append(ratio, t.Read/t.In)
		}
	}
	if len(ratio) == 0 || len(ratio) < len(w.Tasks) {
		return nil
	}
	if m := stats.Median(ratio); m < low || m > high {
		return nil
	}
	sent := make([]Bytes, levels)
	for i := range w.Tasks {
		sent[level[i]] += w.Tasks[i].Read + w.Tasks[i].Written
	}
	return sent
}

// sending returns how long it takes at least to send the tasks of each level
// their data, at a number of seconds per gigabyte.
func (f *features) sending(perGB float64, levels int) []Seconds {
	out := make([]Seconds, levels)
	for i := range f.sent {
		out[i] = perGB * f.sent[i] / 1e9
	}
	return out
}

// dropLinks leaves out the models of a manager's link if there are no bytes that
// one sent: they would be the same models several times.
func (s *training) dropLinks() {
	for _, f := range s.feature {
		if f.sent != nil {
			return
		}
	}
	compute := computeModels()
	kept := s.models[:0]
	for _, m := range s.models {
		if compute[m.model].Link == 0 {
			kept = append(kept, m)
		}
	}
	s.models = kept
}
