package builds

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Recipe is a command whose outcome is kept, and its known inputs.
type Recipe struct {
	Argv   []string
	Env    []string // "NAME=value", beyond the environment of this process
	Dir    string   // where it runs; "" is the directory of this process
	Inputs []string // patterns of files relative to Dir; see [Files]
}

// Obeyed are the variables of this process that are part of a key, because build tools obey them.
func Obeyed() []string {
	return []string{
		"AR", "AS", "CC", "CFLAGS", "CGO_CFLAGS", "CGO_ENABLED", "CGO_LDFLAGS", "CMAKE_PREFIX_PATH", "CPATH", "CPP",
		"CPPFLAGS", "CXX", "CXXFLAGS", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "FC", "FFLAGS", "GOAMD64", "GOFLAGS",
		"JAVA_HOME", "LD", "LDFLAGS", "LDLIBS", "LD_LIBRARY_PATH", "LD_PRELOAD", "LIBRARY_PATH", "MAKEFLAGS", "PATH",
		"PKG_CONFIG_PATH", "PYTHONPATH", "RUSTFLAGS", "VIRTUAL_ENV",
	}
}

// smallFile is the size in bytes up to which a file is known by its content. A larger one is known by
// its size and the time of its last change: reading it would cost more than most builds do.
const smallFile = 256 << 20

// recorded is the value that a key is the hash of. Its JSON is the text that is hashed.
type recorded struct {
	Version int
	Argv    []string
	Env     []string
	Dir     string
	Host    string
	System  string
	Program string
	Files   []string
	Obeyed  []string
}

// Key returns the key of a recipe: recipes with the same key have the same outcome, as far as their
// inputs are known. The error names the pattern that fits no file, or the file that cannot be read.
func (c *Cache) Key(r Recipe) (string, error) {
	in, err := c.record(r)
	if err != nil {
		return "", err
	}
	return in.key()
}

// record returns the value to hash for the key of a recipe, now.
func (c *Cache) record(r Recipe) (recorded, error) {
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return recorded{}, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	in := recorded{Version: 1, Argv: r.Argv, Env: r.Env, Dir: dir, System: runtime.GOOS + "/" + runtime.GOARCH}
	in.Host, _ = os.Hostname() // builds for this very processor are not for another machine that shares the disk
	if len(r.Argv) > 0 {
		in.Program = program(r.Argv[0], dir)
	}
	files, err := Files(r)
	if err != nil {
		return recorded{}, err
	}
	for _, f := range files {
		sum, err := c.sums.of(under(dir, f))
		if err != nil {
			return recorded{}, err
		}
		in.Files = append(in.Files, f+" "+sum)
	}
	for _, name := range Obeyed() {
		if v, ok := os.LookupEnv(name); ok {
			in.Obeyed = append(in.Obeyed, name+"="+v)
		}
	}
	return in, nil
}

func (in recorded) key() (string, error) {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(asBytes(in)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil))[:32], nil
}

// changed returns an error that matches [ErrChanged] and names the changed inputs, or nil.
func (c *Cache) changed(before recorded, r Recipe) error {
	now, err := c.record(r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	for _, f := range now.Files {
		if !slices.Contains(before.Files, f) {
			return fmt.Errorf("%w: %s", ErrChanged, f[:strings.LastIndexByte(f[:strings.LastIndexByte(f, ' ')], ' ')])
		}
	}
	a, err := before.key()
	b, err2 := now.key()
	if err != nil || err2 != nil || a != b {
		return errors.Join(ErrChanged, err, err2)
	}
	return nil
}

// asBytes keeps texts that are not UTF-8 apart, which JSON would write alike.
func asBytes(in recorded) any {
	bytes := func(texts []string) (out [][]byte) {
		for _, t := range texts {
			out = append(out, []byte(t))
		}
		return out
	}
	return []any{
		in.Version, bytes(in.Argv), bytes(in.Env), []byte(in.Dir), in.Host, in.System, in.Program, bytes(in.Files),
		bytes(in.Obeyed),
	}
}

// program names the file that a command starts, with its size and the time of its last change: a
// compiler that was replaced is another one.
func program(name, dir string) string {
	path := name
	if !strings.Contains(name, "/") {
		found, err := exec.LookPath(name)
		if err != nil {
			return ""
		}
		path = found
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano())
}

// Files returns the files that a recipe is known to read, relative to its Dir, sorted: the files that
// fit its Inputs, if it has any, else the files that an argument names, whole or behind an = sign. For
// an argument of sh -c, its words count. A file behind -o or > is written, not read.
//
// In a pattern, ** stands for any number of folders; a folder stands for all files in it and below. A
// pattern that fits nothing is an error. Links to folders are not followed.
func Files(r Recipe) ([]string, error) {
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, p := range r.Inputs {
		found, err := expand(dir, p)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(r.Inputs) == 0 {
		all = named(dir, r.Argv)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// named returns the files that arguments name.
func named(dir string, argv []string) (files []string) {
	var words []string
	for i, a := range argv {
		switch {
		case i > 0 && argv[i-1] == "-c":
			line := strings.NewReplacer(">>", " > ", ">", " > ").Replace(a)
			words = append(words, strings.FieldsFunc(line, func(r rune) bool {
				return strings.ContainsRune(" \t\n;|&<()\"'", r)
			})...)
		case i > 0 || strings.Contains(a, "/") && !filepath.IsAbs(a): // else see program
			words = append(words, a)
		}
	}
	for i, w := range words {
		if i > 0 && (words[i-1] == "-o" || words[i-1] == ">") {
			continue
		}
		_, value, _ := strings.Cut(w, "=")
		for _, name := range []string{w, value} {
			if name == "" {
				continue
			}
			if info, err := os.Stat(under(dir, name)); err == nil && info.Mode().IsRegular() {
				files = append(files, relative(dir, under(dir, name)))
			}
		}
	}
	return files
}

// under returns where a file of dir is, relative ones below it.
func under(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// relative returns how a file is listed: from dir. It may begin with "..".
func relative(dir, path string) string {
	if r, err := filepath.Rel(dir, path); err == nil {
		return r
	}
	return path
}

// mostFiles is how many files one pattern may fit: of more, the key would cost more than the build.
const mostFiles = 50_000

// patternParts splits a pattern at its slashes and returns how many parts in front have no wildcard.
func patternParts(pattern string) (parts []string, fixed int, err error) {
	parts = strings.Split(filepath.ToSlash(filepath.Clean(pattern)), "/")
	for _, p := range parts {
		if _, err := filepath.Match(p, ""); err != nil {
			return nil, 0, fmt.Errorf("inputs: %q is no pattern: %w", pattern, err)
		}
	}
	for fixed < len(parts) && !strings.ContainsAny(parts[fixed], `*?[\`) {
		fixed++
	}
	return parts, fixed, nil
}

// expand returns the files that fit a pattern.
func expand(dir, pattern string) ([]string, error) {
	parts, fixed, err := patternParts(pattern)
	if err != nil {
		return nil, err
	}
	root := under(dir, cmp.Or(strings.Join(parts[:fixed], "/"), map[bool]string{true: "/"}[filepath.IsAbs(pattern)]))
	var found []string
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if path == root && errors.Is(err, fs.ErrNotExist) {
				return fs.SkipAll
			}
			return err
		}
		if e.IsDir() {
			return nil
		}
		below, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return nil // a link to a folder or to nothing, a socket
		}
		if below != "." && !fits(parts[fixed:], strings.Split(filepath.ToSlash(below), "/")) {
			return nil
		}
		if found = append(found, relative(dir, path)); len(found) > mostFiles {
			return fmt.Errorf("inputs: %q fits more than %d files: name fewer", pattern, mostFiles)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, fmt.Errorf("inputs: no file fits %q in %s", pattern, dir)
	}
	return found, nil
}

// fits reports whether a path fits a pattern, both in their parts. A pattern that ends at a folder fits
// everything below.
func fits(pattern, path []string) bool {
	switch {
	case len(pattern) == 0:
		return true
	case pattern[0] == "**":
		if len(pattern) == 1 {
			return true
		}
		for i := range path {
			if fits(pattern[1:], path[i:]) {
				return true
			}
		}
		return false
	case len(path) == 0:
		return false
	}
	ok, _ := filepath.Match(pattern[0], path[0])
	return ok && fits(pattern[1:], path[1:])
}

// sums remembers the hashes of files that have not changed. It is safe for concurrent use.
type sums struct {
	mu   sync.Mutex
	memo map[string]remembered
}

type remembered struct {
	size, mtime, ctime int64
	inode              uint64
	mode               fs.FileMode
	sum                string
}

// settled is the age from which the times of a file show the next change: sooner, a second change might
// leave them as they are.
const settled = 2 * time.Second

// of returns the identity of a file: the hash of its content, and whether it can be executed.
func (s *sums) of(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	st := info.Sys().(*syscall.Stat_t)
	now := remembered{
		size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), inode: st.Ino, mode: info.Mode(),
	}
	s.mu.Lock()
	old := s.memo[path]
	s.mu.Unlock()
	if now.sum = old.sum; old.sum != "" && old == now {
		return old.sum, nil
	}
	if st.Size > smallFile {
		return fmt.Sprintf("%d %d", st.Size, now.mtime), nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	now.sum = fmt.Sprintf("%x %t", h.Sum(nil), info.Mode()&0o111 != 0)
	if time.Since(time.Unix(0, max(now.mtime, now.ctime))) > settled {
		s.mu.Lock()
		s.memo[path] = now
		s.mu.Unlock()
	}
	return now.sum, nil
}
