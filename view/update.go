package view

import "time"

// An Update holds the changes of a study since the one before: rows as they are now. A client that
// applies all of them has the data of [Columns], and need not know the meaning of an event.
type Update struct {
	Events int64     `json:"events" doc:"how many there are on record"`
	At     time.Time `json:"at" doc:"of the last of them"`
	Spent  float64   `json:"spent_s"`
	Trials *Columns  `json:"trials,omitempty" doc:"those that are new or have changed"`
	Answer bool      `json:"answer,omitempty" doc:"the answer of the study may be another one"`
	Queue  bool      `json:"queue,omitempty" doc:"the queue of the study may have changed"`
	Ended  bool      `json:"ended,omitempty" doc:"the study has ended"`
}
