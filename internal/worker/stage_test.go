package worker_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/run"
)

// files are the files of a server, in memory.
type files struct {
	mu   sync.Mutex
	by   map[string]string
	away int // so many calls are not answered
	put  []string
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

func (f *files) Blob(_ context.Context, hash string, from int64, _ bool) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away > 0 {
		f.away--
		return nil, errAway
	}
	text, ok := f.by[hash]
	if !ok {
		return nil, assay.Errorf(assay.ClassNotFound, "no blob %s", hash)
	}
	return io.NopCloser(strings.NewReader(text[from:])), nil
}

func (f *files) PutBlob(_ context.Context, hash, path, study, list string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away > 0 {
		f.away--
		return errAway
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f.by[hash] = string(b)
	f.put = append(f.put, study+" "+list+" "+hash)
	return nil
}

// staged runs a shell line with inputs and outputs, and returns its outcome and the worker's directory.
func staged(t *testing.T, f *files, line string, edit func(*assay.Job)) (queue.Outcome, string) {
	t.Helper()
	local, err := run.NewLocal(run.LocalOptions{Owner: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	task := queue.Task{ID: assay.RunID{Study: "s", Trial: 1, Attempt: 1}, App: queue.Commands}
	task.Job = assay.Job{
		ID: task.ID, Argv: []string{"sh", "-c", line}, Outputs: []string{"*.log"},
		Inputs: []assay.Input{{Name: "d/in", SHA256: sum("data"), Size: 4}},
	}
	edit(&task.Job)
	s := newServer(task)
	out := &output{}
	o := options(t, s, local, out)
	o.Accept = true
	if f != nil {
		o.Blobs = f
	}
	drain := make(chan struct{})
	o.Drain = drain
	wait := start(t.Context(), o)
	until(t, "the outcome is told", func() bool { return len(s.outcomes()) == 1 })
	close(drain)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Join(o.Dir, "runs")); len(left) > 0 {
		t.Errorf("left are the directories %v", left)
	}
	return s.outcomes()[0], o.Dir
}

// The inputs are there before the run. The outcome has the hash of its files, which are sent after it, when the server
// answers; the time of the run is its own.
func TestStages(t *testing.T) {
	testbed.Outside(t)
	f := &files{by: map[string]string{sum("data"): "data"}, away: 1}
	o, dir := staged(t, f, "cat d/in >out.log; pwd; head -c 30000 /dev/zero | tr '\\0' y", func(*assay.Job) { f.away = 2 })
	if o.Why != "" || o.Measurement.ExitCode != 0 || o.Staged <= 0 || len(o.Files) != 64 {
		t.Fatalf("%+v", o)
	}
	if at := strings.SplitN(string(o.Stdout), "\n", 2)[0]; at != filepath.Join(dir, "runs", "0") {
		t.Errorf("it ran in %s", at)
	}
	if !strings.Contains(f.by[o.Files], `"name":"out.log","sha256":"`+sum("data")) ||
		!strings.Contains(f.by[o.Files], `"stdout":{`) {
		t.Errorf("the list is %s", f.by[o.Files])
	}
	if len(f.put) != 3 || f.put[0] != "s  "+o.Files || f.put[1] != "s "+o.Files+" "+sum("data") {
		t.Errorf("sent are %q", f.put)
	}
	whole, err := filepath.Glob(filepath.Join(dir, "kept", "*", "stdout"))
	if err != nil || len(whole) != 1 {
		t.Fatalf("%q, %v", whole, err)
	}
	if b, err := os.ReadFile(whole[0]); err != nil || len(b) < 30000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "kept", "*", "blobs")); len(left) > 0 {
		t.Errorf("what was sent is still there: %q", left)
	}
}

// A missing or wrong input ends in an outcome with that reason, and nothing runs.
func TestCannotStage(t *testing.T) {
	canary := filepath.Join(t.TempDir(), "canary")
	for says, tt := range map[string]struct {
		f    *files
		edit func(*assay.Job)
	}{
		"does not know where the server keeps the files": {nil, func(*assay.Job) {}},
		"no blob " + sum("data"):                         {&files{by: map[string]string{}}, func(*assay.Job) {}},
		"is damaged: the data that the server sends as " +
			sum("data"): {&files{by: map[string]string{sum("data"): "dxta"}}, func(*assay.Job) {}},
		"shared path /nowhere/at/all is not on worker": {
			&files{},
			func(j *assay.Job) { j.Shared = []assay.Shared{{Path: "/nowhere/at/all", Size: -1}} },
		},
		"is another file on worker": {
			&files{},
			func(j *assay.Job) { j.Shared = []assay.Shared{{Path: "/etc/passwd", Size: 1}} },
		},
		`"../up" is no name of an input`: {
			&files{by: map[string]string{sum("data"): "data"}},
			func(j *assay.Job) { j.Inputs[0].Name = "../up" },
		},
		`no SHA-256`: {
			&files{},
			func(j *assay.Job) { j.Inputs[0].SHA256 = "../../x" },
		},
	} {
		o, _ := staged(t, tt.f, "touch "+canary, tt.edit)
		if o.Why != "setup" || !strings.Contains(o.Reason, says) {
			t.Errorf("%s: %q %q", says, o.Why, o.Reason)
		}
		if _, err := os.Stat(canary); err == nil {
			t.Fatalf("%s: it ran", says)
		}
	}
}
