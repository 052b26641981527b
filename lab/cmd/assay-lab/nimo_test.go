package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	lab "github.com/assay-run/assay/lab/nimo"
)

// The printed times of a recorded table are the recorded ones; a failed cell costs
// time and is no example.
func TestNimoTables(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("workload,framework,datasize,nodes,cores_per_node,memory_per_node_GB,status,elapsed_s\n")
	for _, nodes := range []string{"1", "2", "4", "8", "16", "32"} {
		for _, cores := range []string{"1", "2", "4"} {
			for i, memory := range []string{"4", "8", "16"} {
				seconds := map[string]string{"1": "3200", "2": "1600", "4": "800", "8": "400", "16": "200", "32": "100"}[nodes]
				status := "ok"
				if i == 0 && cores == "4" {
					status, seconds = "failed", ""
				}
				b.WriteString(strings.Join([]string{"w", "f", "d", nodes, cores, memory, status, seconds}, ",") + "\n")
			}
		}
	}
	os.MkdirAll(filepath.Join(dir, "scout-aws"), 0o777)
	if err := os.WriteFile(filepath.Join(dir, "scout-aws", "data.csv"), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	code := execute(streams{strings.NewReader(""), &out, &errs}, []string{
		"nimo", "--data", dir, "--tables", "scout-aws", "--seeds", "2", "--json",
	})
	if code != 0 {
		t.Fatal(errs.String())
	}
	var cells []lab.DataCell
	if err := json.Unmarshal([]byte(out.String()), &cells); err != nil || len(cells) == 0 {
		t.Fatal(err, out.String())
	}
	// The time is 3200 s/nodes: a power law that a dozen runs show within 2 %.
	if last := cells[len(cells)-1]; last.Programs != 1 || last.Auto > 2 || last.AutoRuns < last.RandRuns {
		t.Errorf("got %+v", last)
	}
	code = execute(streams{strings.NewReader(""), &out, &errs}, []string{"nimo", "--experiment", "none"})
	if code == 0 {
		t.Error("no error for an experiment that there is not")
	}
}
