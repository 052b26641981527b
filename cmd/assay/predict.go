package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/bench"
	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
)

func predictCommand(s streams) *cobra.Command {
	var at []string
	var against, store, on, learnedOn string
	var asJSON, explain bool
	cmd := &cobra.Command{
		Use:   "predict MODEL [--at NAME=VALUE,...]",
		Short: "predict how long a program runs on resources, by a model of assay learn",
		Long: `predict prints the time that a run is expected to take on an assignment of
resources, with an interval that holds 95 % of runs, and how much of it is
computing, waiting for the network and the disk, and other: one thread of many cores,
a busy machine or a sleep. Numbers between and beyond the learned ones are
allowed; the interval shows how far to trust them. Without --at it describes the model.

With --against it is compared with the trials of a study on record, on the
assignments that the model has not been fitted to.

With --on it predicts on another machine, by a profile of it (assay profile --json).
Attributes that --at omits are taken from that machine. If the machine of the model's runs is
known too, by assay learn --learned-on or --learned-on here, computing scales by both speeds.`,
		Example: `  assay predict blast.model.json --at cpu=0.5,rtt=18ms,bandwidth=20Mbit
  assay predict blast.model.json --at cpu=1,rtt=2ms --at cpu=2,rtt=2ms --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := readModel(args[0])
			if err != nil {
				return err
			}
			there, m, err := machines(s, m, on, learnedOn)
			if err != nil {
				return err
			}
			if against != "" {
				return predictAgainst(cmd.Context(), s, m, there, store, against, asJSON)
			}
			if there != nil && len(at) == 0 {
				at = []string{""} // all from the profile
			}
			if len(at) == 0 {
				if asJSON {
					return writeJSON(s.out, result.NewModel(m))
				}
				return result.WriteModel(s.out, m)
			}
			var ps []result.Predicted
			for _, text := range at {
				p, err := predictAt(m, text, there)
				if err == nil && explain {
					err = p.Explain(m)
				}
				if err != nil {
					return err
				}
				ps = append(ps, p)
			}
			if asJSON {
				return writeJSON(s.out, ps)
			}
			return result.WritePredictions(s.out, palette(s.out), ps)
		},
	}
	cmd.Flags().StringArrayVar(&at, "at", nil, "an assignment, `NAME=VALUE,...`; may be repeated")
	cmd.Flags().BoolVar(&explain, "explain", false,
		"by how many percent the time changes if an attribute grows by 1 %, for each")
	cmd.Flags().StringVar(&on, "on", "",
		"profile of the machine: a `file` of assay profile --json, for attributes that --at omits")
	cmd.Flags().StringVar(&learnedOn, "learned-on", "",
		"profile of the machine of the model's runs (default: the one in the model)")
	cmd.Flags().StringVar(&against, "against", "", "compare with the trials of a `study` on record")
	cmd.Flags().StringVar(&store, "store", "", "where studies are kept: a `path` (default in $XDG_STATE_HOME/assay)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// maxModel is the size of the largest model, and of the largest profile of a machine, that is read.
const maxModel = 256 << 20

func readModel(file string) (*costmodel.Model, error) {
	b, err := files.Read(file, maxModel)
	if err != nil {
		return nil, usageError(err)
	}
	m := &costmodel.Model{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, usagef("%s: not a model of assay learn: %s", file, forPeople(err))
	}
	return m, nil
}

// predictAt predicts at "NAME=VALUE,...".
func predictAt(m *costmodel.Model, text string, there costmodel.Machine) (result.Predicted, error) {
	at := map[string]string{}
	for item := range bench.Items(text) {
		name, value, ok := strings.Cut(item, "=")
		if !ok || name == "" || value == "" {
			return result.Predicted{}, usagef("--at %s: an assignment is written NAME=VALUE,...", text)
		}
		if _, twice := at[name]; twice {
			return result.Predicted{}, usagef("--at %s: %s is given twice", text, name)
		}
		at[name] = value
	}
	p, err := result.Predict(m, at, there)
	if err != nil {
		known := names(m.Space().Params, func(q assay.Param) string { return q.Name })
		return result.Predicted{}, usagef("--at %s: %s (the model's attributes are %s)", text, forPeople(err), known)
	}
	return p, nil
}

// predictAgainst compares a model with the trials of a study.
func predictAgainst(ctx context.Context, s streams, m *costmodel.Model, there costmodel.Machine,
	at, name string, asJSON bool,
) error {
	h, err := setup.ReadStore(ctx, at)
	if err != nil {
		return err
	}
	defer h.Close()
	r, err := result.Read(ctx, h, name)
	if err != nil {
		return noStudy(err, name)
	}
	out, err := r.Against(ctx, m, there)
	return printed(err, asJSON, s.out, out, (*result.Compared).Write)
}
