package worker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
)

// hostile returns tasks with which a server tries to make a worker act beyond its file of
// applications. Each would make the file canary.
func hostile(dir, canary string) (tasks []queue.Task) {
	touch := []string{"touch", canary}
	line := "touch " + canary
	good := func() queue.Task {
		return queue.Task{App: "copy", Values: map[string]string{"to": "x"}}
	}
	add := func(change func(*queue.Task)) {
		t := good()
		change(&t)
		t.ID = assay.RunID{Study: "hostile", Trial: int64(len(tasks) + 1), Attempt: 1}
		t.Job.Limit = 5 * time.Second
		tasks = append(tasks, t)
	}
	job := func(change func(*assay.Job)) { add(func(t *queue.Task) { change(&t.Job) }) }

	add(func(t *queue.Task) { t.App, t.Job.Argv, t.Values = queue.Commands, touch, nil })
	for _, app := range []string{"", "Copy", "copy ", "../copy", "copy\x00", "sh", "*", ">", "command\n"} {
		add(func(t *queue.Task) { t.App, t.Job.Argv = app, touch })
	}
	job(func(j *assay.Job) { j.Argv = touch })
	job(func(j *assay.Job) { j.Argv = []string{""} })
	job(func(j *assay.Job) { j.Prepare = touch })
	job(func(j *assay.Job) { j.Cleanup = touch })
	job(func(j *assay.Job) { j.Verify = touch })
	job(func(j *assay.Job) { j.Setup = &assay.Setup{Argv: touch} })
	job(func(j *assay.Job) { j.Service = &assay.Service{Start: touch} })
	job(func(j *assay.Job) { j.Service = &assay.Service{Ready: assay.Ready{Command: touch}} })
	job(func(j *assay.Job) { j.Files = []assay.File{{Name: canary}} })
	job(func(j *assay.Job) { j.Files = []assay.File{{Name: filepath.Base(canary)}} })
	job(func(j *assay.Job) { j.Secrets = []string{"LD_PRELOAD=file:" + canary} })
	job(func(j *assay.Job) { j.Env = []string{"LD_PRELOAD=" + canary} })
	job(func(j *assay.Job) { j.Env = []string{"PATH=" + dir} })
	job(func(j *assay.Job) { j.Dir = dir })
	job(func(j *assay.Job) { j.Data = dir })
	job(func(j *assay.Job) { j.Resources = map[string]float64{"cpus": 1} })
	metric := func(m assay.MetricSource) {
		job(func(j *assay.Job) { m.Name = "m"; j.Metrics = []assay.MetricSource{m} })
	}
	metric(assay.MetricSource{Kind: assay.FromCommand, Command: line})
	metric(assay.MetricSource{Kind: assay.FromCommand, Command: line, Poll: time.Second})
	for _, file := range []string{"/etc/passwd", "../secret", "out/../../secret", "link", "folder/passwd", ""} {
		metric(assay.MetricSource{Kind: assay.FromSize, File: file})
		metric(assay.MetricSource{Kind: assay.FromJSON, File: file})
	}
	for _, value := range []string{
		"-t/tmp", "--target-directory=" + dir, "-", "--", "-f", "--backup=x", "\x00", "a\x00b", canary + "\x00",
	} {
		add(func(t *queue.Task) { t.Values["to"] = value })
	}
	add(func(t *queue.Task) { t.Values = nil })
	add(func(t *queue.Task) { t.Values["from"] = canary })
	add(func(t *queue.Task) { t.Values["{to}"] = canary })
	// The choices of an application that lists its values.
	for n := 0; len(tasks) < 200; n++ {
		values := []string{"Slow", "slow ", "slow\n", "slow;" + line, "$(" + line + ")", "`" + line + "`", "-slow", ""}
		add(func(t *queue.Task) {
			t.App, t.Values = "pick", map[string]string{"speed": values[n%len(values)] + fmt.Sprint(n/len(values))}
		})
	}
	return tasks
}

// The server cannot make a worker run a program that its file does not allow.
func TestHostileTasks(t *testing.T) {
	testbed.Outside(t)
	dir := t.TempDir()
	canary := filepath.Join(dir, "canary")
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "app"), 0o700),
		os.Symlink("/etc/passwd", filepath.Join(dir, "app", "link")),
		os.Symlink("/etc", filepath.Join(dir, "app", "folder")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	apps, err := spec.ParseApps(filepath.Join(dir, "apps.yaml"), []byte(`
copy: {command: [touch, "{to}"], dir: app}
pick: {command: [touch, "{speed}"], dir: app, parameters: {speed: [slow, fast]}}
`))
	if err != nil {
		t.Fatal(err)
	}
	local, closeRunner, err := setup.Jobs(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer closeRunner()
	counted := &counting{inner: local}

	tasks := hostile(dir, canary)
	good := queue.Task{
		ID: assay.RunID{Study: "good", Trial: 1, Attempt: 1}, App: "copy", Values: map[string]string{"to": "made"},
		Job: assay.Job{Metrics: []assay.MetricSource{
			{Name: "size", Kind: assay.FromSize, File: "made"},
			{Name: "none", Kind: assay.FromStdout, Pattern: regexp.MustCompile(`(\d+)`)},
		}},
	}
	s, out := newServer(append(tasks, good)...), &output{}
	o := options(t, s, counted, out)
	o.Accept, o.Apps, o.Slots = false, apps, 4
	s.tickets = make(chan queue.Ticket, len(tasks)+1)
	for i := range len(tasks) + 1 {
		s.tickets <- queue.Ticket{ID: fmt.Sprint(i), App: "copy"} // a carrier may deliver anything
	}
	drain := make(chan struct{})
	o.Drain = drain
	told := make(chan queue.Outcome, len(tasks)+1)
	s.telling = func(o queue.Outcome) { told <- o }
	wait := start(t.Context(), o)
	refused, ran := 0, 0
	for range len(tasks) + 1 {
		switch o := <-told; {
		case o.ID.Study == "good":
			ran++
			if x, ok := o.Measurement.Metric("size"); o.Why != "" || o.Measurement.ExitCode != 0 || !ok || x != 0 {
				t.Errorf("the good task: %+v", o)
			}
		case o.Why == "setup":
			refused++
		default:
			t.Errorf("task %d: %+v", o.ID.Trial, o)
		}
	}
	close(drain)
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if len(tasks) != 200 || refused != 200 || ran != 1 || counted.n.Load() != 1 {
		t.Errorf("of %d hostile tasks %d were refused; %d good ones ran, %d runs", len(tasks), refused, ran, counted.n.Load())
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "app"))
	if len(entries) != 3 { // link, folder, made
		t.Errorf("the directory has %v", entries)
	}
	if _, err := os.Lstat(canary); err == nil {
		t.Error("a hostile task was executed")
	}
	t.Logf("counted: %d hostile tasks, %d refused; %d that is allowed was run", len(tasks), refused, ran)
}
