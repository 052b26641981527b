package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/term"
	"github.com/assay-run/assay/lab/recorded"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

type fleetFlags struct {
	fleets      []string
	environment string
	methods     string
	trials      int
	seeds       int
	race        bool
	slower      []string
	json        bool
	jobs        int
}

func fleetCommand(s streams) *cobra.Command {
	f := &fleetFlags{}
	cmd := &cobra.Command{
		Use:   "fleet STUDY.yaml --environment COLUMN --fleet MACHINE,...;MACHINE,...",
		Short: "machines that differ: the result of one study on several recorded machines",
		Long: `fleet searches a table that was recorded on several machines as if they were the
workers of one study. Each run is made by a machine drawn at random. A fleet is
classes apart by semicolons, each of machines apart by commas, which are values of
the column --environment; answers are judged on the first machine.

  target  all runs on the target machine
  share   only the runs that the target machine would make
  raw     all machines, values as they are: the control
  factor  all machines, the worker as a factor of its measurements
  any     the same, and five of the best are run again on the target class`,
		Example: `  assay-lab fleet bench/studies/ase17-x264-azure.yaml --environment machine \
    --fleet 'feature9,feature10' --fleet 'feature9;azure;feature1;feature8'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), s, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.fleets, "fleet", nil, "`MACHINES`, as above; may be repeated")
	fl.StringVar(&f.environment, "environment", "", "the `COLUMN` that identifies the machine")
	fl.StringArrayVar(&f.slower, "slower", nil,
		"`MACHINE=FACTOR`: a machine takes that many times as long as was recorded, which fleets name")
	fl.StringVar(&f.methods, "methods", "rs,auto", "methods to compare, by `name`; their stopping rules are not used")
	fl.IntVar(&f.trials, "trials", 60, "trials of each study")
	fl.IntVar(&f.seeds, "seeds", 20, "number of seeds, from 1")
	fl.BoolVar(&f.race, "race", false, "each study ends with a race and five pairs of runs, as a study of a command does")
	jobsFlag(fl, &f.jobs, "studies at once")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *fleetFlags) run(ctx context.Context, s streams, file string) error {
	if f.seeds < 1 || f.jobs < 1 || f.trials < 1 {
		return usagef("--seeds, --trials and --jobs are at least 1")
	}
	if len(f.fleets) == 0 || f.environment == "" {
		return usagef("which machines? Give --environment COLUMN and --fleet 'MACHINE,...;MACHINE,...'")
	}
	o := recorded.FleetOptions{Trials: f.trials, Seeds: f.seeds, Workers: f.jobs, Race: f.race, Grows: spec.Grows}
	var err error
	if o.Methods, err = bench.Methods(f.methods); err != nil {
		return err
	}
	slower, err := f.slowed()
	if err != nil {
		return err
	}
	opened := map[string]*setup.Problem{}
	for _, text := range f.fleets {
		fleet := recorded.Fleet{Name: text}
		for class := range strings.SplitSeq(text, ";") {
			var machines []recorded.Machine
			for name := range bench.Items(class) {
				p := opened[name]
				if p == nil {
					if p, err = f.open(s, file, name); err != nil {
						return err
					}
					opened[name] = p
				}
				machines = append(machines, recorded.Machine{Name: name, Table: p.Table, Slower: slower[name]})
			}
			if len(machines) == 0 {
				return usagef("--fleet %s: a class without machines", text)
			}
			fleet.Classes = append(fleet.Classes, machines)
		}
		target := opened[fleet.Classes[0][0].Name]
		if o.Space != nil && fleet.Classes[0][0].Name != o.Fleets[0].Classes[0][0].Name {
			return usagef("--fleet %s: the first machine of each fleet is to be the same: answers are judged on it", text)
		}
		o.Space, o.Goal = target.Space, target.Goal
		o.Fleets = append(o.Fleets, fleet)
	}
	for name, p := range opened {
		for c := range o.Space.All() {
			if p.Table.Runs(c) == 0 {
				return usagef("%s: machine %s has no run of %s, which the first one has", file, name, o.Space.Text(c))
			}
		}
	}
	status := term.StatusOn(s.err)
	o.Progress = func(done, total int) { status.Set(fmt.Sprintf("%d of %d studies", done, total)) }
	rep, err := recorded.RunFleet(ctx, o)
	status.Close()
	return printed(err, f.json, s.out, rep, recorded.FleetReport.Write)
}

// slowed reads by how much machines are slower.
func (f *fleetFlags) slowed() (map[string]float64, error) {
	all := map[string]float64{}
	for _, text := range f.slower {
		name, factor, _ := strings.Cut(text, "=")
		x, err := strconv.ParseFloat(factor, 64)
		if err != nil || !(x > 0 && x <= 1000) {
			return nil, usagef("--slower %s: not a machine and a factor, such as feature10=1.12", text)
		}
		all[name] = x
	}
	return all, nil
}

// open reads the table of one machine.
func (f *fleetFlags) open(s streams, file, machine string) (*setup.Problem, error) {
	def, err := bench.Source{File: file, For: "fleet", Warn: s.warn}.Study()
	if err != nil {
		return nil, err
	}
	where := maps.Clone(def.Replay.Where)
	if where == nil {
		where = map[string]string{}
	}
	where[f.environment] = machine
	def.Replay.Where = where
	if slices.Contains(def.Replay.Parameters, f.environment) {
		return nil, usagef("%s: %s is a parameter of the study", file, f.environment)
	}
	return setup.New(def, setup.Options{})
}
