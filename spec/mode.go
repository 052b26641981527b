package spec

import (
	"slices"
)

// A Mode is what the trials of a study are.
type Mode string

// The modes of a study.
const (
	ModeCommand Mode = "command" // runs of a command
	ModeTable   Mode = "table"   // runs on record, replayed
	ModeOnline  Mode = "on-line" // iterations of a program that runs already
	ModeAsked   Mode = "asked"   // runs that somebody else makes, who asks and tells
)

// Mode returns what the trials of the study are.
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

// SetOnline makes it a study that is tuned on line. What it says of how to run a
// program is dropped: the command, its environment, hooks and metrics.
func (s *Study) SetOnline() {
	s.Online = true
	s.drop(OnLine)
}

// readOnline recognises the stored form that an on-line study had before there was
// a mode: the command on-line {a} {b}, with every parameter in its place.
func (s *Study) readOnline() {
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
		c.add("", "", "", 0, "on line, what the ranks report is minimized: no other objective, no limits, no replay")
	}
}

// A Placement says where the runs of a study are made. It is no part of what the
// study is: see [Study.Identity].
type Placement struct {
	On string `json:"on,omitempty"` // the name of a runner; "" means the study's own choice
	// Class is the class of machines: "same" for that of the first one, "any", or a class; "" means same.
	Class string `json:"class,omitempty"`
	// Target is the class of machines that the answer is for, with the class any; "" means that of the
	// first trial that ends.
	Target string `json:"target,omitempty"`
	// Batch is what is asked of a batch system.
	Batch Batch `json:"batch,omitzero"`
}

// Anywhere is the name of all classes of machines.
const Anywhere = "any"

// Fleet is the name of the runner that has the workers of a server make the runs.
const Fleet = "fleet"
