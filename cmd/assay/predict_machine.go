package main

import (
	"encoding/json"
	"math"
	"os"
	"strconv"

	"github.com/assay-run/assay/costmodel"
	"github.com/assay-run/assay/internal/result"
)

// A machine is a resource profile ρ, as assay profile --json writes it: values by name.
type machine map[string]float64

// readMachine reads a profile; "" is none.
func readMachine(flag, file string) (machine, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError(err)
	}
	var j result.Profile
	if err := json.Unmarshal(b, &j); err != nil || j.Version != 1 || len(j.Attributes) == 0 {
		return nil, usagef("--%s %s: not a profile of assay profile --json", flag, file)
	}
	for name, x := range j.Attributes {
		if !(x >= 0) || math.IsInf(x, 1) {
			return nil, usagef("--%s %s: %s is %v", flag, file, name, x)
		}
	}
	return j.Attributes, nil
}

// profileNames are the names in a profile of attributes that studies call otherwise.
var profileNames = map[string]string{"cpu": "cpus", "cores": "cpus", "memory": "memory_size"}

// fill adds the attributes of a model that at does not give and the profile has: M(G, I, R) of
// Shivam, Babu and Chase 2006, Eq. 2, reads ρ of the assignment R.
func (p machine) fill(m *costmodel.Model, at map[string]string) {
	for _, q := range m.Space().Params {
		if _, given := at[q.Name]; given {
			continue
		}
		x, ok := p[q.Name]
		if other := profileNames[q.Name]; !ok && other != "" {
			x, ok = p[other]
		}
		if ok {
			at[q.Name] = strconv.FormatFloat(x, 'g', -1, 64)
		}
	}
}

// slower returns how many times longer p computes than the machine of a model's runs, by the geometric
// mean of the speeds that both profiles have; 1 without one.
func (p machine) slower(learned machine) float64 {
	sum, n := 0.0, 0.0
	for _, name := range [...]string{"integer_speed", "float_speed"} {
		if a, b := learned[name], p[name]; a > 0 && b > 0 {
			sum, n = sum+math.Log(a/b), n+1
		}
	}
	return math.Exp(sum / max(n, 1))
}
