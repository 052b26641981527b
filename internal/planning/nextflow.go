package planning

import (
	"fmt"
	"math"
	"strings"
)

// writeNextflow writes a configuration of Nextflow. Its requests do not depend on the input: a
// configuration cannot see the inputs of a process.
//
// The units of Nextflow are binary: 1.MB is 2^20 bytes.
func writeNextflow(b *strings.Builder, p *RequestPlan) {
	comments(b, "//", p, "Use it with -c, or includeConfig of it in nextflow.config.",
		"Exit statuses 130 to 145 mean a signal: a task that took too much is tried again with twice as much.")
	b.WriteString("process {\n")
	for _, k := range p.Kinds {
		fmt.Fprintf(b, "    withName: '%s' {\n", processPattern(k.Name))
		if k.Memory.Known() {
			fmt.Fprintf(b, "        memory = { %d.MB * 2 ** (task.attempt - 1) }\n", mebibytes(k.Memory.High))
		}
		if k.Time.Known() {
			fmt.Fprintf(b, "        time = { %d.min * 2 ** (task.attempt - 1) }\n", minutes(k.Time.High))
		}
		b.WriteString("        errorStrategy = { task.exitStatus in [104, 247, 2147483647] + (130..145) ? 'retry' : " +
			"'finish' }\n")
		fmt.Fprintf(b, "        maxRetries = %d\n    }\n", retries)
	}
	b.WriteString("}\n")
}

// processPattern returns the pattern of a process selector that matches the name and no other, as the
// content of a Groovy string in single quotes. Selectors are regular expressions: a character other than
// an ASCII letter or digit, _ or : is written by its number.
func processPattern(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r == '_' || r == ':' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\\x{%x}`, r)
		}
	}
	return b.String()
}

// mebibytes returns bytes as MiB, rounded up.
func mebibytes(x float64) int64 { return int64(math.Ceil(x/(1<<20) - 1e-9)) }

// minutes returns seconds as minutes, rounded up.
func minutes(x float64) int64 { return int64(math.Ceil(x/60 - 1e-9)) }
