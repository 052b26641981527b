package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/spec"
)

// allowed returns the job of a task on this worker. The error, of class usage, names the part that the server may not
// request.
//
// For a task of an application the job is made here, from the file of applications and the values. The server is
// trusted only for fields that run nothing and open nothing: names, limits, intervals, and metrics that are found in
// the output, or in a file below the directory of the application.
func (w *worker) allowed(t queue.Task) (assay.Job, error) {
	if t.App == queue.Commands {
		if !w.Accept {
			return assay.Job{}, refusal("it takes no commands: it was started without --accept-commands")
		}
		if len(t.Job.Argv) == 0 {
			return assay.Job{}, refusal("the task has no command")
		}
		j := t.Job
		j.ID = t.ID
		return j, nil
	}
	app, ok := w.Apps.App(t.App)
	if !ok {
		return assay.Job{}, refusal("it has no application %q", t.App)
	}
	if key := spec.Refused(t.Job); key != "" {
		return assay.Job{}, refusal("the task of application %s brings %s: that is for the worker's file of applications",
			app.Name, key)
	}
	if err := measurable(t.Job.Metrics, app.Dir, app.Name); err != nil {
		return assay.Job{}, err
	}
	j, err := app.Job(t.Values)
	if err != nil {
		return assay.Job{}, err
	}
	j.ID, j.Config, j.Priority = t.ID, t.Job.Config, t.Job.Priority
	j.Interval, j.Grace, j.Metrics, j.Live = t.Job.Interval, t.Job.Grace, t.Job.Metrics, t.Job.Live
	j.Warmup = min(t.Job.Warmup, maxWarmup)
	if j.Limit == 0 || t.Job.Limit > 0 && t.Job.Limit < j.Limit {
		j.Limit = t.Job.Limit
	}
	if app.User != "" {
		as := w.users[app.User]
		for _, argv := range []*[]string{&j.Argv, &j.Prepare, &j.Cleanup, &j.Verify} {
			if len(*argv) > 0 {
				*argv = append(as[:len(as):len(as)], *argv...)
			}
		}
	}
	return j, nil
}

// measurable returns why a metric of a task would run or open more than the application allows.
func measurable(metrics []assay.MetricSource, dir, app string) error {
	for _, m := range metrics {
		switch {
		case m.Kind.Argument() == assay.CommandArgument:
			return refusal("metric %s is a command", m.Name)
		case m.Kind.Argument().Files() && !below(dir, m.File):
			return refusal("metric %s: %q is no file below the directory of application %s", m.Name, m.File, app)
		}
	}
	return nil
}

// maxWarmup is the largest number of warm-up runs that a server may request.
const maxWarmup = 100

func refusal(format string, args ...any) error {
	return assay.Errorf(assay.ClassUsage, "the worker refuses the task: %s", fmt.Sprintf(format, args...))
}

// below reports whether a file is below a directory, after following links. A file that does not exist yet is judged by
// its name.
func below(dir, file string) bool {
	if dir == "" || !filepath.IsLocal(file) {
		return false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	// A link that leads out of the directory is an error of the root, like a missing file.
	if _, err := root.Stat(file); err != nil {
		_, err := root.Lstat(file)
		return errors.Is(err, fs.ErrNotExist)
	}
	return true
}

// runAs returns the command prefixes that run a command as each of the users of the applications; the user of this
// process needs none.
func runAs(apps *spec.Apps) (map[string][]string, error) {
	as := map[string][]string{}
	if apps == nil {
		return as, nil
	}
	for _, app := range apps.Apps {
		if app.User == "" {
			continue
		}
		u, err := user.Lookup(app.User)
		if err != nil {
			return nil, assay.Errorf(assay.ClassUsage, "%s: application %s: user %s: %w", apps.File, app.Name, app.User, err)
		}
		switch uid := strconv.Itoa(os.Getuid()); {
		case u.Uid == uid:
			as[app.User] = nil
			continue
		case uid != "0":
			return nil, assay.Errorf(assay.ClassUsage,
				"%s: application %s runs as user %s: only a worker of root can do that", apps.File, app.Name, app.User)
		}
		setpriv, err := exec.LookPath("setpriv")
		if err != nil {
			return nil, assay.Errorf(assay.ClassUsage,
				"%s: application %s runs as user %s, which needs the program setpriv of util-linux: %w",
				apps.File, app.Name, app.User, err)
		}
		as[app.User] = strings.Fields(setpriv + " --reuid=" + u.Uid + " --regid=" + u.Gid +
			" --init-groups --no-new-privs --")
	}
	return as, nil
}
