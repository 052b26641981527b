package assay

import (
	"strings"
	"time"
)

// SlotMark stands in the texts of a [Job] for the number of the slot that it runs in: of the jobs
// that run at once where it runs, each has another one, from 1. Only what runs the job knows it.
// See [SetupDir] for why no value is taken for it.
const SlotMark = "\x00slot\x00"

// InFirstSlot returns a text of a [Job] with the number of the first slot, in which a single run is.
func InFirstSlot(text string) string { return strings.ReplaceAll(text, SlotMark, "1") }

// A Service is a program that a run needs beside it, such as a server: it is started before the
// run, in the job's Dir and with its Env, and ended after it, with all its processes. What it does
// is measured apart from the run.
type Service struct {
	Start []string
	Ready Ready
	// Stop is a command that ends the service; nil for SIGTERM, and SIGKILL after the grace.
	Stop []string
	// Key, if not "", says that the service of an earlier job of the study with the same one will
	// do: it is left running from job to job, until one comes that has another Key.
	Key string
}

// A Ready says when a service can be used: when all that it names holds. If it names nothing, that
// is when the command Start has ended with code 0 and has left something running.
type Ready struct {
	Command []string      // it ends with code 0
	Port    string        // "PORT" or "HOST:PORT" takes a TCP connection
	Output  string        // an expression (RE2) that matches in what the service has printed
	Within  time.Duration // the longest that it may take; 0 means a minute
}

// serviceJSON is the JSON of a Service.
type serviceJSON struct {
	Start  []rawText     `json:"start,omitempty"`
	Stop   []rawText     `json:"stop,omitempty"`
	Key    rawText       `json:"key,omitempty"`
	Ready  []rawText     `json:"ready,omitempty"`
	Port   rawText       `json:"port,omitempty"`
	Output rawText       `json:"output,omitempty"`
	Within time.Duration `json:"within_ns,omitempty"`
}

func (s *Service) json() *serviceJSON {
	if s == nil {
		return nil
	}
	r := s.Ready
	return &serviceJSON{
		raw(s.Start), raw(s.Stop), rawText(s.Key), raw(r.Command), rawText(r.Port), rawText(r.Output), r.Within,
	}
}

func (s *serviceJSON) service() *Service {
	if s == nil {
		return nil
	}
	return &Service{
		Start: texts(s.Start), Stop: texts(s.Stop), Key: string(s.Key),
		Ready: Ready{texts(s.Ready), string(s.Port), string(s.Output), s.Within},
	}
}
