package main

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/setup"
)

// goodFlags are the flags of the commands that compare two ways of searching by when each finds a good
// configuration.
type goodFlags struct {
	within string
	method string
	seeds  int
	first  uint64
	json   bool
	jobs   int
}

func (f *goodFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.within, "within", "5%", "how far above the best is good enough")
	fl.StringVar(&f.method, "method", setup.DefaultSearcher, "how the studies search, by `name`")
	fl.IntVar(&f.seeds, "seeds", 20, "number of seeds, from 2")
	fl.Uint64Var(&f.first, "first-seed", 1, "the first of them")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	jobsFlag(fl, &f.jobs, "studies at once")
}

// read returns the method, and the share above the best that is good enough.
func (f *goodFlags) read() (m bench.Method, within float64, err error) {
	number, ok := strings.CutSuffix(f.within, "%")
	within, err = strconv.ParseFloat(number, 64)
	switch {
	case !ok || err != nil || !(within > 0 && within <= 1000):
		return m, 0, usagef("--within %s: per cent, such as 5%%", f.within)
	case f.seeds < 2 || f.jobs < 1 || f.first < 1:
		return m, 0, usagef("--seeds is at least 2, --first-seed and --jobs 1")
	}
	methods, err := bench.Methods(f.method)
	if err != nil {
		return m, 0, err
	}
	if len(methods) > 1 {
		return m, 0, usagef("--method %s: one method", f.method)
	}
	return methods[0], within / 100, nil
}
