package nimo

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/table"
)

const scoutHeader = "workload,framework,datasize,nodes,cores_per_node,memory_per_node_GB,status,elapsed_s\n"

// scoutRows are 54 assignments of a program, 3200 s divided by the number of nodes; a
// ninth of them has failed, without a time.
func scoutRows(program string) string {
	var b strings.Builder
	for _, nodes := range []int{1, 2, 4, 8, 16, 32} {
		for _, cores := range []int{1, 2, 4} {
			for _, memory := range []int{4, 8, 16} {
				if cores == 4 && memory == 4 {
					fmt.Fprintf(&b, "%s,spark,big,%d,%d,%d,failed,\n", program, nodes, cores, memory)
					continue
				}
				fmt.Fprintf(&b, "%s,spark,big,%d,%d,%d,ok,%d\n", program, nodes, cores, memory, 3200/nodes)
			}
		}
	}
	return b.String()
}

// write makes the file of a source in a new folder, which it returns.
func write(t *testing.T, src source, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, src.set), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, src.set, src.file), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func sourceOf(t *testing.T, set string) source {
	t.Helper()
	i := slices.IndexFunc(sources, func(src source) bool { return src.set == set })
	if i < 0 {
		t.Fatalf("no source %q", set)
	}
	return sources[i]
}

// Programs are told apart by their columns, in the order of their names; one with less
// than 40 assignments is left out.
func TestOpenPrograms(t *testing.T) {
	few := strings.Join(strings.SplitAfter(scoutRows("few"), "\n")[:39], "")
	dir := write(t, sourceOf(t, "scout-aws"), scoutHeader+scoutRows("sort")+few+scoutRows("grep"))
	tables, err := Open(dir, []string{"scout-aws"})
	if err != nil || len(tables) != 2 {
		t.Fatalf("%d programs, %v", len(tables), err)
	}
	for i, want := range []string{"data grep spark big", "data sort spark big"} {
		tab := tables[i]
		if tab.Set != "scout-aws" || tab.Name != want || len(tab.configs) != 54 {
			t.Errorf("program %d: %q of %q, %d assignments", i, tab.Name, tab.Set, len(tab.configs))
		}
		if got := tab.params[0].Levels; !slices.Equal(got, []string{"1", "2", "4", "8", "16", "32"}) {
			t.Errorf("levels %v, want them as numbers", got)
		}
		if tab.params[0].Kind != assay.Ordinal || tab.params[2].Name != "memory_per_node_GB" {
			t.Errorf("parameters %+v", tab.params)
		}
		failed := 0
		for _, c := range tab.configs {
			x := tab.times[c.Key()]
			nodes := []float64{1, 2, 4, 8, 16, 32}[int(c[0])]
			switch {
			case len(x) == 1 && math.IsInf(x[0], 1):
				failed++
			case !slices.Equal(x, []float64{math.Trunc(3200 / nodes)}):
				t.Errorf("%v nodes took %v", nodes, x)
			}
		}
		if failed != 6 {
			t.Errorf("%d assignments have failed, want 6", failed)
		}
	}
}

// Rows without data are left out: an attribute that is no number, a time that is
// empty or 0. Rows of one assignment are repetitions, however a number is written.
func TestOpenRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("revision,WindowSize,CompressionLevel,time_s\n")
	for x := range 7 {
		for y := range 6 {
			fmt.Fprintf(&b, "1.1,%d,%d,%d\n", x, y, 10+x)
			fmt.Fprintf(&b, "1.10,%d,%d,%d\n", x, y, 20+x)
		}
	}
	b.WriteString("1.1,2.0,3,99\n1.1,,3,98\n1.1,big,3,98\n1.1,Inf,3,98\n1.1,50,3,\n1.1,51,3,0\n")
	tables, err := Open(write(t, sourceOf(t, "perfevo-brotli"), b.String()), []string{"perfevo-brotli"})
	if err != nil || len(tables) != 2 || tables[0].Name != "data 1.1" || tables[1].Name != "data 1.10" {
		t.Fatalf("%+v, %v", tables, err)
	}
	tab := tables[0]
	if len(tab.configs) != 42 || len(tab.params[0].Levels) != 7 {
		t.Errorf("%d assignments, levels %v; want 42 and 7", len(tab.configs), tab.params[0].Levels)
	}
	if got := tab.times[assay.Config{2, 3}.Key()]; !slices.Equal(got, []float64{12, 99}) {
		t.Errorf("repetitions %v, want 12 and 99 in their order", got)
	}
	if got := tables[1].times[assay.Config{2, 3}.Key()]; !slices.Equal(got, []float64{22}) {
		t.Errorf("the other program took %v, want 22", got)
	}
}

// A column that is missing is an error with its name and the file's, whatever it
// is for.
func TestOpenMissingColumn(t *testing.T) {
	for _, src := range sources {
		columns := slices.Concat(src.programs, src.attributes, []string{src.time})
		if src.status != "" {
			columns = append(columns, src.status)
		}
		for _, missing := range columns {
			rest := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return c == missing })
			row := strings.TrimSuffix(strings.Repeat("1,", len(rest)), ",")
			dir := write(t, src, strings.Join(rest, ",")+"\n"+row+"\n")
			_, err := src.open(dir)
			e, ok := errors.AsType[*table.Error](err)
			want := fmt.Sprintf("no column %q", missing)
			if !ok || !strings.Contains(e.Message, want) || !strings.HasSuffix(e.File, src.file) {
				t.Errorf("%s without %s: %v", src.file, missing, err)
			}
		}
	}
}

func TestOpenErrors(t *testing.T) {
	_, err := Open(t.TempDir(), []string{"none"})
	if err == nil || !strings.Contains(err.Error(), `no recorded tables "none"`) {
		t.Errorf("a set that there is not: %v", err)
	}
	if _, err := Open(t.TempDir(), []string{"lotaru"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that there is not: %v", err)
	}
	src := sourceOf(t, "scout-aws")
	_, err = src.open(write(t, src, scoutHeader+"a,b,c,1,1,1,ok,fast\n"))
	if err == nil || !strings.Contains(err.Error(), `data.csv:2: column elapsed_s: "fast" is not a number`) {
		t.Errorf("a time that is no number: %v", err)
	}
	if tables, err := Open(t.TempDir(), nil); err != nil || len(tables) > 0 {
		t.Errorf("no sets: %v, %v", tables, err)
	}
}

// Every set that an error names can be asked for, and has a source.
func TestSourcesAreNamed(t *testing.T) {
	_, err := Open("", []string{"none"})
	for _, src := range sources {
		if err == nil || !strings.Contains(err.Error(), src.set) {
			t.Errorf("%v does not name %s", err, src.set)
		}
	}
}
