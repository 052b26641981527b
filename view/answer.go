package view

// An Answer is the recommendation of a study with one objective. Commands, reports, pages and clients all show these
// values.
type Answer struct {
	// Keep is whether the first configuration is recommended, since no gain over it is shown.
	Keep   bool           `json:"keep"`
	Trial  int64          `json:"trial"` // the recommended one
	Config map[string]any `json:"config"`
	Value  float64        `json:"value"` // the median of the runs of that configuration
	Runs   int            `json:"runs"`
	// Candidate is the best that was found, if it is not recommended.
	Candidate *Candidate `json:"candidate,omitempty"`
	// Gain is the gain of the best over the first configuration in words: "22.9 % faster [15.1, 29.0], 9 pairs".
	Gain string `json:"gain"`
	// Shown is whether a gain is shown, and Least is its lower bound, as a share of the value of the first.
	Shown  bool     `json:"shown"`
	Least  float64  `json:"least"`
	Limits []Kept   `json:"limits,omitempty"` // of the recommended configuration
	Passed []string `json:"passed_over,omitempty"`
	Run    string   `json:"run,omitempty"` // a line for a shell that runs it
}

// A Candidate is a configuration that is not recommended, since no gain is shown.
type Candidate struct {
	Trial  int64          `json:"trial"`
	Config map[string]any `json:"config"`
	Value  float64        `json:"value"`
	Runs   int            `json:"runs"`
}

// A Kept is a limit beside the greatest value that the runs of a configuration had of its metric, or the least where
// the limit is a lower one.
type Kept struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Limit  float64 `json:"limit"`
	Text   string  `json:"text"` // "max_rss 31 MB of 48 MB"
}
