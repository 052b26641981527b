package setup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// halves takes half as long with each thread more, up to four, and longer from there.
type halves struct{}

func (halves) Run(_ context.Context, job assay.Job, _ func(assay.Measurement)) (assay.Measurement, error) {
	threads := job.Config[0]
	return assay.Measurement{Elapsed: time.Duration(float64(time.Second) * (1/threads + threads/16))}, nil
}

// A definition becomes a study, and the study is run. Without Options.Runner the
// command would be run on this machine.
func Example() {
	ctx := context.Background()
	def, _, err := spec.Parse("zip.yaml", []byte(`
command: [zip, "-T{threads}", data]
parameters: {threads: 1..8}
search: {name: auto, seed: 1}
budget: {trials: 8}
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	study, err := setup.Open(ctx, def, "memory", "", setup.Options{Runner: halves{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer study.Close()
	result, err := study.Run(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(study.Name, study.Space.Text(result.Best.Config), result.Best.Value)
	// Output: zip threads=4 0.5
}

// A problem is a definition that has been checked. It describes the study, and
// an error has the place of a flaw in the definition.
func ExampleNew() {
	define := func(text string) *spec.Study {
		def, _, err := spec.Parse("f.yaml", []byte("command: [echo, '{n}']\nparameters: {n: 1..3}\n"+text), nil)
		if err != nil {
			panic(err)
		}
		return def
	}
	problem, err := setup.New(define("search: grid\n"), setup.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	first, err := problem.Preview(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range first {
		fmt.Println(problem.Program.Argv(c))
	}
	_, err = setup.New(define("search: {name: grid, levels: one}\n"), setup.Options{})
	fmt.Println(err)
	fmt.Println(assay.ClassOf(err))
	// Output:
	// [echo 1]
	// [echo 2]
	// f.yaml:3:22: search option levels: one is not a whole number from 2 to 1000
	// usage
}

// Studies are kept in a file. A later process opens it and reads the summary
// and the trials of each study.
func ExampleOpenStore() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "studies.db")

	def, _, err := spec.Parse("zip.yaml", []byte(`
command: [zip, "-T{threads}", data]
parameters: {threads: 1..8}
search: grid
budget: {trials: 5}
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	study, err := setup.Open(ctx, def, path, "", setup.Options{Runner: halves{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = study.Run(ctx)
	if err = errors.Join(err, study.Close()); err != nil { // closes the store, too
		fmt.Println(err)
		return
	}

	records, err := setup.ReadStore(ctx, path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer records.Close()
	for sum, err := range records.Summaries(ctx, "", 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %d trials, best is trial %d with %v s, ended by %s\n", sum.Study, sum.Trials(), sum.Best,
			sum.Value, sum.Ended)
		for row, err := range records.Trials(ctx, sum.Study, 3, 0) { // those behind trial 3
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf("%d %v %.4f\n", row.Trial.ID, row.Trial.State, row.Trial.Value)
		}
	}
	// Output:
	// zip: 5 trials, best is trial 4 with 0.5 s, ended by trials
	// 4 done 0.5000
	// 5 done 0.5125
}
