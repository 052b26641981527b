package assay

import (
	"strings"
	"time"
)

// SlotMark is the placeholder in the texts of a [Job] for the number of its slot: jobs that run at once at one place
// have different slots, counted from 1. Only the runner of the job knows the number. See [SetupDir] for why no value is
// mistaken for the mark.
const SlotMark = "\x00slot\x00"

// InFirstSlot returns a text of a [Job] with the number of the first slot, in which a single run is.
func InFirstSlot(text string) string { return strings.ReplaceAll(text, SlotMark, "1") }

// A Service is a program that a run needs beside it, such as a server. It is started before the run, in the job's Dir
// and with its Env, and ended after it, with all its processes. Its resources are measured apart from the run.
type Service struct {
	Start []string
	Ready Ready
	// Stop is a command that ends the service; nil for SIGTERM, and SIGKILL after the grace.
	Stop []string
	// Key, if not "", lets jobs of the study with the same Key share the service: it is left running from job to job,
	// until a job has another Key.
	Key string
}

// A Ready is the condition for using a service: all its fields hold. An empty Ready holds when the command Start has
// ended with code 0 and has left a process running.
type Ready struct {
	Command []string      // it ends with code 0
	Port    string        // "PORT" or "HOST:PORT" takes a TCP connection
	Output  string        // an expression (RE2) that matches in the output of the service
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
