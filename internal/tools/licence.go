package main

import (
	"slices"
	"strings"
)

// allowed are the licences that may be in the program: they require no more than attribution.
func allowed() []string {
	return []string{"0BSD", "Apache-2.0", "blessing", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "Unlicense"}
}

// forTests are the licences of modules that only tests use, which are not distributed.
func forTests() []string { return append(allowed(), "MPL-2.0") }

// passedOver are files that are named like licences, but cover nothing in the program.
func passedOver() []string {
	return []string{
		"LICENSE-3RD-PARTY.md", // a list of other modules, of which each has its own
		"LICENSE-LOGO",         // of a picture
	}
}

// classify returns the SPDX identifier of a licence by its text, or "". Licences with more requirements
// are matched first: a text that has both is classified by its requirements.
func classify(text string) string {
	words := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	lacks := func(phrase string) bool { return !strings.Contains(words, phrase) }
	for _, s := range signs {
		if !slices.ContainsFunc(s.phrases, lacks) {
			return s.licence
		}
	}
	return ""
}

const (
	redistribution = "redistribution and use in source and binary forms"
	retain         = "must retain the above copyright notice"
	provided       = "provided that the above copyright notice"
)

// signs has the phrases that a text has by which its licence is known. The first that are all there decide.
var signs = []struct {
	licence string
	phrases []string
}{
	{"MPL-2.0", []string{"mozilla public license"}}, // it names the GNU licences
	{"AGPL", []string{"gnu affero general public license"}},
	{"LGPL", []string{"gnu lesser general public license"}},
	{"LGPL", []string{"gnu library general public license"}},
	{"GPL", []string{"gnu general public license"}},
	{"SSPL", []string{"server side public license"}},
	{"BUSL", []string{"business source license"}},
	{"Commons-Clause", []string{"commons clause"}},
	{"EPL", []string{"eclipse public license"}},
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"BSD-3-Clause", []string{redistribution, retain, "neither the name"}},
	{"BSD-3-Clause", []string{redistribution, retain, "the names of its contributors may not"}},
	{"BSD-3-Clause", []string{redistribution, retain, "may not be used to endorse or promote products"}},
	{"BSD-2-Clause", []string{redistribution, retain}},
	{"MIT", []string{
		"permission is hereby granted, free of charge", "the above copyright notice and this permission notice",
	}},
	{"ISC", []string{"permission to use, copy, modify, and/or distribute this software", provided}},
	{"ISC", []string{"permission to use, copy, modify, and distribute this software", provided}},
	{"0BSD", []string{"permission to use, copy, modify, and/or distribute this software"}},
	{"CC0-1.0", []string{"cc0 1.0 universal"}},
	{"blessing", []string{"has been dedicated to the public domain by the authors", "sqlite"}},
	{"Unlicense", []string{"this is free and unencumbered software released into the public domain"}},
}
