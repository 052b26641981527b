package spec

import (
	"cmp"
	"slices"
)

// A Mode is the kind of the trials of a study.
type Mode string

// The modes of a study.
const (
	ModeCommand Mode = "command" // runs of a command
	ModeTable   Mode = "table"   // runs on record, replayed
	ModeOnline  Mode = "on-line" // iterations of a program that runs already
	ModeAsked   Mode = "asked"   // runs of an external study: its clients ask and report
)

// Mode returns the kind of the trials of the study.
func (s *Study) Mode() Mode {
	switch {
	case s.Online:
		return ModeOnline
	case s.Asked:
		return ModeAsked
	case s.Replay != nil:
		return ModeTable
	}
	return ModeCommand
}

// SetOnline makes it a study that is tuned on line. It drops the settings of how to run a program: the command, its
// environment, hooks and metrics.
func (s *Study) SetOnline() {
	s.Online = true
	s.drop(OnLine)
}

// readOnline recognises the stored form that an on-line study had before there was
// a mode: the command on-line {a} {b}, with every parameter in its place.
func readOnline(s *Study) {
	command := []string{string(ModeOnline)}
	for _, p := range s.Params {
		command = append(command, "{"+p.Name+"}")
	}
	if !s.Shell && slices.Equal(s.Command, command) {
		s.SetOnline()
	}
}

// online checks a study that is tuned on line.
func (c *checker) online() {
	s := c.study
	if !s.Online {
		return
	}
	if m := s.Objective; m.Maximize || m.Metric != "" && m.Metric != "elapsed" || len(s.Others) > 0 ||
		len(s.SubjectTo) > 0 || s.Replay != nil {
		c.add("", "", "", 0, "on line, the metric of the ranks is minimized: no other objective, no limits, no replay")
	}
}

// A Placement defines where the runs of a study are made. It is not part of the study's identity: see
// [Study.Identity].
type Placement struct {
	On string `json:"on,omitempty"` // the name of a runner; "" means the study's own choice
	// Class is the class of machines: "same" for the class of the first machine, "any", or a class; "" means same.
	Class string `json:"class,omitempty"`
	// Target is, with the class any, the class of machines that the answer is for; "" means the class of the first trial
	// that ends.
	Target string `json:"target,omitempty"`
	// Batch is the request to a batch system.
	Batch Batch `json:"batch,omitzero"`
}

// Anywhere is the name of all classes of machines.
const Anywhere = "any"

// Fleet is the name of the runner that has the workers of a server make the runs.
const Fleet = "fleet"

// OwnCommand is the name of the application of a study with a command of its own.
const OwnCommand = "command"

// Application returns the application that makes the runs of the study: OwnCommand if the study has a command of its
// own, "" for an external study.
func (s *Study) Application() string {
	if s.Asked {
		return ""
	}
	return cmp.Or(s.App, OwnCommand)
}
