package main

import (
	"fmt"

	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/files"
)

// readMachine reads a profile of assay profile --json; "" returns no machine.
func readMachine(flag, file string) (costmodel.Machine, error) {
	if file == "" {
		return nil, nil
	}
	b, err := files.Read(file, maxModel)
	if err != nil {
		return nil, usageError(err)
	}
	p, err := costmodel.ReadMachine(b)
	if err != nil {
		return nil, usagef("--%s %s: %v", flag, file, err)
	}
	return p, nil
}

// machines returns the machine to predict for, nil for the machine of the model's runs, and the model with the machine
// that it was learned on.
func machines(s streams, m *costmodel.Model, on, learnedOn string) (costmodel.Machine, *costmodel.Model, error) {
	there, err := readMachine("on", on)
	if err != nil {
		return nil, nil, err
	}
	here, err := readMachine("learned-on", learnedOn)
	if err != nil {
		return nil, nil, err
	}
	if here != nil && there == nil {
		return nil, nil, usagef("--learned-on needs --on: the profile of the machine to predict for")
	}
	if here != nil {
		if m, err = m.LearnedOn(here); err != nil {
			return nil, nil, err
		}
	}
	if there != nil && m.Machine() == nil {
		fmt.Fprintln(s.err, "note: the model does not name the machine of its runs, so that no speed is "+
			"compared: give --learned-on RHO.json, here or to assay learn")
	}
	return there, m, nil
}
