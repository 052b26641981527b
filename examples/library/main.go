// Command library tunes a command from a program of your own: it loads a study file, opens the study in a store, runs
// it, and prints the answer. A second run resumes the study, which has nothing left to do.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

func main() {
	// The first Ctrl-C ends the study. Finished trials are on record.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := tune(ctx, "study.yaml", "library.db"); err != nil {
		fmt.Fprintln(os.Stderr, "library:", err)
		os.Exit(1)
	}
}

// tune runs the study of a file in a store and prints its answer.
func tune(ctx context.Context, file, store string) error {
	def, _, err := spec.Load(file, nil)
	if err != nil {
		return err
	}
	s, err := setup.Open(ctx, def, store, "", setup.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := s.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%d trials, %d of them of earlier sessions\n", len(r.Trials), r.Replayed)
	if !r.Found {
		return fmt.Errorf("no trial ended within the limits")
	}
	for i, p := range s.Problem.Space.Params {
		fmt.Printf("%s=%s\n", p.Name, p.Text(r.Best.Config[i]))
	}
	goal := s.Problem.Goal
	fmt.Printf("%s %.3g, median of %d runs\n", goal.Metric, goal.Show(r.Best.Value), r.Runs)
	if v, ok := r.Verdict(goal); ok {
		fmt.Printf("%.0f %% lower than the first configuration, %d pairs\n", -100*v.Change, v.Pairs)
	}
	return nil
}
