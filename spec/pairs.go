package spec

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Pairs are the pairs of runs at the end of a study, which compare the best configuration with the first one. The zero
// value is auto: as many as it takes to show a difference.
type Pairs struct {
	Runs int  `json:"pairs,omitempty"` // their number, if it is fixed
	None bool `json:"none,omitempty"`  // no pair, and no race either
	// Share is the per cent of the time budget that is kept back for them; 0 means 20.
	Share float64 `json:"share_percent,omitempty"`
}

// maxShare is the largest share of the time budget, in per cent, that pairs may take: the search needs the rest.
const maxShare = 80

// pairsForm reads and writes the number of pairs. 0 means none.
var pairsForm = form{
	value:  "auto, none, or whole number",
	schema: `{"anyOf": [{"enum": ["auto", "none"]}, {"type": "integer", "minimum": 0}]}`,
	read: func(d *decoder, k *Key, n *yaml.Node, s *Study) {
		t, ok := d.text(n, k.Path)
		if !ok {
			return
		}
		d.mark(k.Path, n)
		runs, err := strconv.ParseInt(t, 10, 32)
		switch p := &s.Pairs; {
		case t == "auto":
			p.Runs, p.None = 0, false
		case t == "none" || err == nil && runs == 0:
			p.Runs, p.None = 0, true
		case err != nil || runs < 0:
			d.fail(n, "%s: write auto, a number of pairs, or none, not %q", k.Path, clip(t))
		default:
			p.Runs, p.None = int(runs), false
		}
	},
	node: func(s *Study) *yaml.Node {
		switch {
		case s.Pairs.None:
			return scalar("none")
		case s.Pairs.Runs > 0:
			return plain(strconv.Itoa(s.Pairs.Runs))
		}
		return nil
	},
}

// shareForm reads and writes the share of the time budget that the pairs may take.
var shareForm = form{
	value: "share, such as 20%", schema: `{"$ref": "#/$defs/scalar"}`,
	read: func(d *decoder, k *Key, n *yaml.Node, s *Study) { parsed(d, k, n, parseShare, &s.Pairs.Share) },
	node: func(s *Study) *yaml.Node {
		if s.Pairs.Share == 0 {
			return nil
		}
		return scalar(strconv.FormatFloat(s.Pairs.Share, 'g', -1, 64) + "%")
	},
}

// parseShare reads a share of the time budget, such as 20%, and returns it in per cent.
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !percent || err != nil || !(x >= 1 && x <= maxShare) {
		return 0, fmt.Errorf("%q is no share of the time budget: write per cent from 1%% to %d%%, such as 20%%", clip(text),
			maxShare)
	}
	return x, nil
}
