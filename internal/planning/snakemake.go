package planning

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/workflow/request"
)

// ruleName matches the names that Snakemake accepts for a rule. No rule can have another name.
var ruleName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// writeSnakemake writes the config.yaml of a profile of Snakemake 8 and later: resources by rule as
// expressions of the attempt, and of the size of the input if they depend on it.
//
// mem_mb is in units of 10^6 bytes, runtime in minutes.
func writeSnakemake(b *strings.Builder, p *RequestPlan) {
	comments(b, "#", p, "Use its folder with snakemake --profile FOLDER or --workflow-profile FOLDER.")
	fmt.Fprintf(b, "retries: %d\n", retries)
	sets, left := 0, 0
	for _, k := range p.Kinds {
		if !ruleName.MatchString(k.Name) {
			left++
			continue
		}
		if sets++; sets == 1 {
			b.WriteString("set-resources:\n")
		}
		fmt.Fprintf(b, "  \"%s\":\n", k.Name)
		if k.Memory.Known() {
			fmt.Fprintf(b, "    mem_mb: \"%s\"\n", expression(k.Memory.Rule, 1e6))
		}
		if k.Time.Known() {
			fmt.Fprintf(b, "    runtime: \"%s\"\n", expression(k.Time.Rule, 60))
		}
	}
	if left > 0 {
		fmt.Fprintf(b, "# %d kinds are left out: no rule can have their names.\n", left)
	}
}

// expression returns a rule as Snakemake evaluates it, in whole units.
func expression(r request.Rule, unit float64) string {
	up := func(x float64) int64 { return int64(math.Ceil(x/unit - 1e-9)) }
	if !r.Sized() {
		return fmt.Sprintf("%d * 2 ** (attempt - 1)", up(r.High))
	}
	// int cuts: one more unit makes it round up.
	return fmt.Sprintf("min(max(int(%d + %s * input.size), %d), %d) * 2 ** (attempt - 1)",
		up(r.Base)+1, slope(r.PerByte/unit), up(r.Low), up(r.High))
}

// slope returns a number with four digits that is not below x.
func slope(x float64) string { return strconv.FormatFloat(x*1.0005, 'g', 4, 64) }
