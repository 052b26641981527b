package main

import "strings"

// allowed are the licences of what may be in the program: they ask for no more than to be named.
func allowed() []string {
	return []string{"0BSD", "Apache-2.0", "blessing", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "Unlicense"}
}

// forTests are those of what only tests use, which is given to nobody.
func forTests() []string { return append(allowed(), "MPL-2.0") }

// passedOver are files that are named as licences are, and are none of what is in the program.
func passedOver() []string {
	return []string{
		"LICENSE-3RD-PARTY.md", // a list of other modules, of which each has its own
		"LICENSE-LOGO",         // of a picture
	}
}

// classify returns the SPDX identifier of a licence by what it says, or "". Those that ask for more come first: a text
// that has both says so by what it asks for.
func classify(text string) string {
	words := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	has := func(all ...string) bool {
		for _, s := range all {
			if !strings.Contains(words, s) {
				return false
			}
		}
		return true
	}
	switch {
	case has("mozilla public license"): // it speaks of the GNU licences
		return "MPL-2.0"
	case has("gnu affero general public license"):
		return "AGPL"
	case has("gnu lesser general public license") || has("gnu library general public license"):
		return "LGPL"
	case has("gnu general public license"):
		return "GPL"
	case has("server side public license"):
		return "SSPL"
	case has("business source license"):
		return "BUSL"
	case has("commons clause"):
		return "Commons-Clause"
	case has("eclipse public license"):
		return "EPL"
	case has("apache license", "version 2.0"):
		return "Apache-2.0"
	case has("redistribution and use in source and binary forms", "must retain the above copyright notice"):
		if has("neither the name") || has("the names of its contributors may not") ||
			has("may not be used to endorse or promote products") {
			return "BSD-3-Clause"
		}
		return "BSD-2-Clause"
	case has("permission is hereby granted, free of charge", "the above copyright notice and this permission notice"):
		return "MIT"
	case has("permission to use, copy, modify, and/or distribute this software",
		"provided that the above copyright notice") ||
		has("permission to use, copy, modify, and distribute this software", "provided that the above copyright notice"):
		return "ISC"
	case has("permission to use, copy, modify, and/or distribute this software"):
		return "0BSD"
	case has("cc0 1.0 universal"):
		return "CC0-1.0"
	case has("has been dedicated to the public domain by the authors", "sqlite"):
		return "blessing"
	case has("this is free and unencumbered software released into the public domain"):
		return "Unlicense"
	}
	return ""
}
