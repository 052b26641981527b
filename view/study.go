package view

import "time"

// A Study is the state of a study on a server: its counts, its costs and its recommendation.
type Study struct {
	Study        string    `json:"study"`
	State        string    `json:"state" enum:"running,paused,stopped,ended,idle" doc:"idle: this server does not run it"`
	Priority     int       `json:"priority" doc:"of two studies the one of greater priority goes first"`
	App          string    `json:"app" doc:"command if the study has its own; empty for an external study"`
	MachineClass string    `json:"class,omitempty" doc:"of the machines that make the runs"`
	Objective    string    `json:"objective"`
	Unit         string    `json:"unit,omitempty" doc:"of the metric"`
	Best         *float64  `json:"best" doc:"of the metric; null while it has no value, and for a front"`
	BestTrial    int64     `json:"best_trial" doc:"the recommended one; 0 while no trial has ended well"`
	BestRuns     int       `json:"best_runs,omitempty" doc:"of which best is the median"`
	Gain         string    `json:"gain,omitempty" doc:"of the best over the first configuration, in words"`
	Keep         bool      `json:"keep,omitempty" doc:"no gain is shown: the first configuration is recommended"`
	Trials       int64     `json:"trials"`
	Done         int64     `json:"done"`
	Censored     int64     `json:"censored"`
	Failed       int64     `json:"failed"`
	Infeasible   int64     `json:"infeasible"`
	Withdrawn    int64     `json:"withdrawn"`
	Running      int       `json:"running" doc:"attempts that a machine is at"`
	Spent        float64   `json:"spent_s"`
	Saved        float64   `json:"saved_s" doc:"by early stops"`
	Lost         float64   `json:"lost_s" doc:"in attempts that do not count"`
	Events       int64     `json:"events" doc:"how many there are on record"`
	Created      time.Time `json:"created"`
	Owner        string    `json:"owner,omitempty" doc:"who submitted it; empty if it began in a terminal"`
	Last         time.Time `json:"last" doc:"when the last event was"`
	Why          string    `json:"why,omitempty" doc:"the error in which it ended, if it did"`
	EndedBy      string    `json:"ended_by" doc:"empty while it goes on"`
	Curve        []float64 `json:"curve,omitempty" nullable:"false" doc:"the best so far, at up to 32 ended trials"`
	Lacks        string    `json:"lacks,omitempty" doc:"why no worker can run its open runs; after two leases"`
}
