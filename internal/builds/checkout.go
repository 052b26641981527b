package builds

// This file checks out commits of a git repository side by side, each in a directory of its own,
// and removes them again. The repository's own working tree is not touched.
//
// The directories are worktrees (git-worktree(1)) in one temporary directory, which is locked while its
// process lives: the next [Open] in the same repository removes the remains of a killed process.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/assay-run/assay"
)

// prefix is how the names of temporary directories begin.
const prefix = "assay-builds-"

// A Set is commits that are checked out. It must be closed.
type Set struct {
	Trees []Tree
	repo  string // the top of the repository's working tree
	dir   string // that holds the trees
	lock  *os.File
}

// A Tree is one commit.
type Tree struct {
	Revision string // as the user wrote it
	Commit   string
	Dir      string // absolute: the user's directory in the commit
	root     string
}

// Open checks out the revisions of the repository that holds dir. Tree.Dir stands for dir. An invalid
// revision is an error of the class usage: it is unknown, or it is HEAD's while tracked files have
// changes, which are in no commit.
func Open(ctx context.Context, dir string, revisions []string) (s *Set, err error) {
	g := git{dir}
	top, err := g.line(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, assay.Errorf(assay.ClassUsage, "%s is in no git repository with a working tree: %v", dir, err)
	}
	below, err := g.line(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	trees, err := g.resolve(ctx, revisions)
	if err != nil {
		return nil, err
	}
	g = git{top}
	sweep(ctx, g)
	s = &Set{repo: top}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
			s = nil
		}
	}()
	if err := s.makeDir(); err != nil {
		return s, err
	}
	for i, t := range trees {
		t.root = filepath.Join(s.dir, strconv.Itoa(i+1))
		// Hooks of the repository are for its user, not for us.
		if err := g.run(ctx, "-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--detach", t.root,
			t.Commit); err != nil {
			return s, err
		}
		t.Dir = filepath.Join(t.root, below)
		if info, err := os.Stat(t.Dir); err != nil || !info.IsDir() {
			return s, assay.Errorf(assay.ClassUsage, "revision %s has no directory %s", t.Revision, below)
		}
		s.Trees = append(s.Trees, t)
	}
	return s, nil
}

// makeDir makes the directory of the trees, and locks it.
func (s *Set) makeDir() (err error) {
	base, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp(base, prefix+"*"); err != nil {
		return err
	}
	if s.lock, err = os.Create(filepath.Join(s.dir, "lock")); err != nil {
		return err
	}
	return syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// Close removes the trees, with everything that was built in them.
func (s *Set) Close() error {
	var all []error
	if s.dir != "" {
		all = append(all, remove(git{s.repo}, s.dir))
	}
	if s.lock != nil {
		all = append(all, s.lock.Close())
	}
	return errors.Join(all...)
}

// remove removes a directory of trees. It is not to be cancelled: its remains would stay in the
// repository.
func remove(g git, dir string) error {
	// Directories that a build has made read-only cannot be emptied.
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // RemoveAll reports the obstacle
		}
		return nil
	})
	return errors.Join(err, os.RemoveAll(dir), g.run(context.Background(), "worktree", "prune"))
}

// sweep removes the remains of processes that were killed. Errors are ignored.
func sweep(ctx context.Context, g git) {
	list, err := g.line(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return
	}
	seen := map[string]bool{}
	for line := range strings.Lines(list) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree ")
		dir := filepath.Dir(path)
		if !ok || seen[dir] || !strings.HasPrefix(filepath.Base(dir), prefix) {
			continue
		}
		seen[dir] = true
		lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = remove(g, dir)
		}
		lock.Close()
	}
}

// git runs git in a directory.
type git struct{ dir string }

// resolve returns the commits of revisions.
func (g git) resolve(ctx context.Context, revisions []string) ([]Tree, error) {
	var trees []Tree
	for _, r := range revisions {
		commit, err := g.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", r+"^{commit}")
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && strings.HasSuffix(r, "-dirty"):
			return nil, assay.Errorf(assay.ClassUsage, "revision %s: changes that are in no commit cannot be checked out", r)
		case err != nil:
			return nil, assay.Errorf(assay.ClassUsage, "revision %q is no commit of this repository", r)
		}
		trees = append(trees, Tree{Revision: r, Commit: commit})
	}
	head, err := g.line(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		if t.Commit != head {
			continue
		}
		changed, err := g.line(ctx, "status", "--porcelain", "--untracked-files=no")
		if err != nil {
			return nil, err
		}
		if changed != "" {
			return nil, assay.WithHint(assay.Errorf(assay.ClassUsage, "revision %s is dirty: %d tracked files have changes "+
				"that are in no commit, so they would not be measured", t.Revision, len(strings.Split(changed, "\n"))),
				"commit them, or put them aside with git stash")
		}
	}
	return trees, nil
}

// line returns the output of git, without the newline at the end.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	// A Ctrl-C on the terminal is for this process, which ends git by the context.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if text := assay.LastLine(errs.Bytes()); text != "" {
			err = errors.New(text)
		}
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

func (g git) run(ctx context.Context, args ...string) error {
	_, err := g.line(ctx, args...)
	return err
}
