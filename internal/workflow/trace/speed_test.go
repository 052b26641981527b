package trace

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/workflow"
)

const million = 1_000_000

// writeWfFormat writes a WfFormat 1.5 instance of n tasks, about 1 kB each, in the
// form that wfcommons writes.
func writeWfFormat(out io.Writer, n, width int) error {
	w := bufio.NewWriterSize(out, 1<<20)
	rng := rand.New(rand.NewPCG(3, 4))
	id := func(i int) string { return fmt.Sprintf("process_block_ID%07d", i) }
	fmt.Fprint(w, "{\n    \"name\": \"big\",\n    \"schemaVersion\": \"1.5\",\n    \"workflow\": {\n        "+
		"\"specification\": {\n            \"tasks\": [\n")
	const pad = "                "
	for i := range n {
		var parents, children []string
		if i >= width {
			parents = append(parents, id(i-width), id((i/width-1)*width+(i+7)%width))
		}
		if i+width < n {
			children = append(children, id(i+width))
		}
		quote := func(s []string) string {
			for i := range s {
				s[i] = "\n" + pad + "        \"" + s[i] + "\""
			}
			return "[" + strings.Join(s, ",") + "]"
		}
		fmt.Fprintf(w, "%s{\n%s    \"name\": \"%s\",\n%s    \"id\": \"%s\",\n%s    \"children\": %s,\n%s    "+
			"\"inputFiles\": [\"f%07d.dat\", \"common.cfg\"],\n%s    \"outputFiles\": [\"f%07d.out\"],\n%s    "+
			"\"parents\": %s\n%s}",
			pad, pad, id(i), pad, id(i), pad, quote(children), pad, i, pad, i, pad, quote(parents), pad)
		if i < n-1 {
			fmt.Fprint(w, ",\n")
		}
	}
	fmt.Fprint(w, "],\n            \"files\": [{\"id\": \"common.cfg\", \"sizeInBytes\": 100}")
	for i := range n {
		fmt.Fprintf(w, ",\n%s{\"id\": \"f%07d.dat\", \"sizeInBytes\": %d},\n%s{\"id\": \"f%07d.out\", "+
			"\"sizeInBytes\": %d}", pad, i, 1000+i, pad, i, 2000+i)
	}
	fmt.Fprint(w, "]},\n        \"execution\": {\"makespanInSeconds\": 12345.5, \"executedAt\": "+
		"\"2020-01-01\",\n            \"tasks\": [\n")
	for i := range n {
		fmt.Fprintf(w, "%s{\n%s    \"id\": \"%s\",\n%s    \"runtimeInSeconds\": %.3f,\n%s    \"command\": "+
			"{\"program\": \"process_block\", \"arguments\": [\"-i\", \"f%07d.dat\", \"-o\", \"f%07d.out\"]},\n"+
			"%s    \"coreCount\": 1,\n%s    \"avgCPU\": 97.5,\n%s    \"readBytes\": 123456,\n%s    "+
			"\"machines\": [\"worker-%d\"]\n%s}",
			pad, pad, id(i), pad, 10*rng.Float64(), pad, i, i, pad, pad, pad, pad, i%8, pad)
		if i < n-1 {
			fmt.Fprint(w, ",\n")
		}
	}
	fmt.Fprint(w, "],\n            \"machines\": [{\"nodeName\": \"worker-0\", \"cpu\": {\"coreCount\": 48}}]}}}\n")
	return w.Flush()
}

// counter counts the bytes that pass through.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// TestReadGigabyte reads 1 GB of WfFormat, 10^6 tasks, as a stream: the goals are
// 12 s and 4 GiB. The input is generated while it is read, which counts.
func TestReadGigabyte(t *testing.T) {
	n := million / 20
	if os.Getenv("ASSAY_SOAK") == "1" {
		n = million
	}
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(writeWfFormat(pw, n, 1000)) }()
	c := &counter{r: pr}
	begin := time.Now()
	w, err := Read(workflow.FillOptions{}, Source{"big.json", c})
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	t.Logf("%d tasks, %d edges, %.0f MB in %v (%.0f MB/s, with generating); %.2f GiB from the system", len(w.Tasks),
		w.Graph.Edges(), float64(c.n)/1e6, took.Round(time.Millisecond),
		float64(c.n)/1e6/took.Seconds(), float64(mem.Sys)/(1<<30))
	if len(w.Tasks) != n || w.Makespan != 12345.5 || w.Tasks[n-1].Machine < 0 || w.Tasks[0].In != 1100 ||
		w.Tasks[0].Kind != "process_block" {
		t.Errorf("read wrongly: %d tasks, makespan %v, %+v", len(w.Tasks), w.Makespan, w.Tasks[0])
	}
	if n == million && (took > 30*time.Second || mem.Sys > 4<<30) {
		t.Errorf("took %v and %d B", took, mem.Sys)
	}
}
