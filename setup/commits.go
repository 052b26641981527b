package setup

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/builds"
	"github.com/assay-run/assay/spec"
)

// CommitsOptions are the options of [CompareCommits].
type CommitsOptions struct {
	Revisions []string
	// Build is the line of sh that builds a revision, in its directory; "" for none. {setup} in it, and $SETUP in its
	// environment, is this directory.
	Build string
	// Command runs the program of a revision. {setup} is the directory of its build, relative to the current one.
	Command []string
	Shell   bool              // the command is one line of sh
	Log     io.Writer         // gets a line for each build
	Warn    func(text string) // is called for problems that do not end it
}

// CompareCommits returns the comparison of one command in several revisions of the repository of the current directory,
// which it checks out and builds. done removes them, and is not nil. edit puts the flags over a comparison; properties
// that do not depend on the builds are checked before them. An error of the class usage is a flaw of the comparison, an
// unknown revision, or a directory that needs quotes in a shell line. A context that is done ends a build with all its
// processes.
func CompareCommits(
	ctx context.Context, o CommitsOptions, edit func(*spec.Comparison) error,
) (def *spec.Comparison, done func(), err error) {
	done = func() {}
	plain := &spec.Comparison{Benchmarks: []spec.Benchmark{{Commands: []spec.Variant{
		{Name: "A", Study: Literal(o.Command, o.Shell)},
	}}}}
	if err := edit(plain); err != nil {
		return nil, done, err
	}
	if err := plain.Check(); err != nil {
		return nil, done, err
	}
	if _, err := Gate(plain); err != nil {
		return nil, done, err
	}
	c, err := openCommits(ctx, o)
	if err != nil {
		return nil, done, err
	}
	done = func() {
		if err := c.close(); err != nil {
			o.Warn(err.Error())
		}
	}
	def = &spec.Comparison{Benchmarks: []spec.Benchmark{{Commands: c.commands}}}
	if err := edit(def); err != nil {
		return nil, done, err
	}
	if err := c.hooks(def.Benchmarks[0].Commands); err != nil {
		return nil, done, err
	}
	return def, done, def.Check()
}

// commits are revisions of a git repository, each checked out and built, for a comparison of one command in all of
// them. They must be closed.
type commits struct {
	commands []spec.Variant // one for each revision, in their order
	set      *builds.Set
}

// openCommits checks out the revisions of the repository of the current directory, and builds them.
func openCommits(ctx context.Context, o CommitsOptions) (c *commits, err error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if here, err = filepath.EvalSymlinks(here); err != nil { // .. is the parent in the file system
		return nil, err
	}
	set, err := builds.Open(ctx, here, o.Revisions)
	if err != nil {
		return nil, err
	}
	c = &commits{set: set}
	for _, t := range set.Trees {
		v, err := o.build(ctx, here, t)
		if err != nil {
			if left := c.close(); left != nil {
				o.Warn(left.Error())
			}
			return nil, err
		}
		c.commands = append(c.commands, v)
	}
	return c, nil
}

// close removes the revisions.
func (c *commits) close() error {
	if err := c.set.Close(); err != nil {
		return fmt.Errorf("the commits that were checked out could not be removed: %w", err)
	}
	return nil
}

// hooks puts the directory of its build into the hooks of each command, for {setup} and as $SETUP.
func (c *commits) hooks(commands []spec.Variant) error {
	for i, v := range commands {
		dir := c.set.Trees[i].Dir
		v.Study.Env = map[string]string{"SETUP": braces.Replace(dir)}
		for _, h := range []*spec.Hook{&v.Study.Prepare, &v.Study.Verify, &v.Study.Cleanup} {
			for k := range h.Argv {
				line, err := setupLine(h.Argv[k], dir)
				if err != nil {
					return err
				}
				h.Argv[k] = line
			}
		}
	}
	return nil
}

// build builds a commit, and returns the command that runs it. The path of the build in it starts at the directory that
// the command runs in, so that ./{setup}/prog is one, too.
func (o *CommitsOptions) build(ctx context.Context, here string, t builds.Tree) (v spec.Variant, err error) {
	if o.Build != "" {
		line, err := setupLine(o.Build, t.Dir)
		if err != nil {
			return v, err
		}
		fmt.Fprintf(o.Log, "building %s (%.12s)\n", t.Revision, t.Commit)
		if err := o.run(ctx, line, t); err != nil {
			return v, err
		}
	}
	path, err := filepath.Rel(here, t.Dir)
	if err != nil {
		return v, err
	}
	argv := make([]string, len(o.Command))
	for i, a := range o.Command {
		if o.Shell {
			if a, err = setupLine(a, path); err != nil {
				return v, err
			}
		}
		argv[i] = strings.ReplaceAll(a, "{setup}", path)
	}
	return spec.Variant{Name: t.Revision, Study: Literal(argv, o.Shell)}, nil
}

// run runs the line that builds a commit.
func (o *CommitsOptions) run(ctx context.Context, line string, t builds.Tree) error {
	local, err := Local(ctx, "compare", false, o.Warn)
	if err != nil {
		return err
	}
	defer local.Close()
	m, err := local.Run(ctx, assay.Job{
		Argv: []string{"/bin/sh", "-c", line}, Dir: t.Dir, Env: []string{"SETUP=" + t.Dir}, Grace: grace,
	}, nil)
	if err == nil && m.ExitCode != 0 {
		err = fmt.Errorf("--setup failed with exit code %d in %s:\n%s%s", m.ExitCode, t.Revision,
			lastLines(m.Stdout), lastLines(m.Stderr))
	}
	return err
}

// Literal returns a study of a command in which braces mean nothing. With shell it is one line of sh.
func Literal(argv []string, shell bool) *spec.Study {
	if shell {
		return &spec.Study{Command: []string{strings.Join(argv, " ")}, Shell: true}
	}
	st := &spec.Study{}
	for _, a := range argv {
		st.Command = append(st.Command, braces.Replace(a))
	}
	return st
}

// braces doubles braces, so that they stand for themselves.
var braces = strings.NewReplacer("{", "{{", "}", "}}")

// inShell matches paths that need no quotes in a shell.
var inShell = regexp.MustCompile(`^[A-Za-z0-9_./+-]*$`)

// setupLine puts the directory of a build in the place of {setup} in a shell line.
func setupLine(line, dir string) (string, error) {
	if strings.Contains(line, "{setup}") && !inShell.MatchString(dir) {
		return "", assay.Errorf(assay.ClassUsage,
			"%s cannot stand in a shell line: write \"$SETUP\" in place of {setup}", dir)
	}
	return strings.ReplaceAll(line, "{setup}", dir), nil
}

// lastLines returns the last ten lines of an output.
func lastLines(out []byte) string {
	lines := strings.SplitAfter(strings.TrimRight(strings.ToValidUTF8(string(out), "\ufffd"), "\n"), "\n")
	const keep = 10
	if len(lines) == 1 && lines[0] == "" {
		return ""
	}
	return strings.Join(lines[max(0, len(lines)-keep):], "") + "\n"
}
