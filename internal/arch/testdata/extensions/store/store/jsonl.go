package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/assay-run/assay"
)

// JSONL keeps studies in a directory of text files, one a study, to be read by other programs.
// The first line of a file is a [jsonlHead]; each line after it is a list of the events of one
// Append, so that a line that was cut short takes the whole Append with it. Append locks
// the file. Every call reads the whole file of the study: it is for small studies.
type JSONL struct {
	projector
	dir string
	mu  sync.RWMutex // a lock of a file is one of the process
}

var (
	_ assay.Store     = (*JSONL)(nil)
	_ assay.Projector = (*JSONL)(nil)
)

// A jsonlHead is the first line of the file of a study.
type jsonlHead struct {
	Study   string    `json:"study"`
	Created time.Time `json:"created"`
	Spec    []byte    `json:"spec"`
}

// OpenJSONL returns the store in a directory, which is made if there is none.
func OpenJSONL(dir string) (*JSONL, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &JSONL{dir: dir}
	s.projector = projector{s.history, s.Studies}
	return s, nil
}

// path returns the file of a study, whose name may be no name of a file.
func (s *JSONL) path(study string) string {
	return filepath.Join(s.dir, fmt.Sprintf("%x.jsonl", sha256.Sum256([]byte(study))))
}

// Create implements [assay.Store].
func (s *JSONL) Create(ctx context.Context, study string, spec []byte) error {
	if err := cmp.Or(ctx.Err(), CheckName(study)); err != nil {
		return err
	}
	line, err := json.Marshal(jsonlHead{study, time.Now().UTC(), spec})
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), s.path(study)); errors.Is(err, fs.ErrExist) {
		return Exists(study)
	} else if err != nil {
		return err
	}
	return s.sync()
}

// sync makes a new file of the directory survive the end of the machine.
func (s *JSONL) sync() error {
	d, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// A jsonlStudy is what the file of a study holds.
type jsonlStudy struct {
	jsonlHead
	events []assay.Event
	size   int64 // of its whole lines in bytes
}

// read returns what the file of a study holds.
func (s *JSONL) read(ctx context.Context, op, study string) (jsonlStudy, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return jsonlStudy{}, err
	}
	b, err := os.ReadFile(s.path(study))
	if errors.Is(err, fs.ErrNotExist) {
		return jsonlStudy{}, NotExist(op, study)
	}
	if err != nil {
		return jsonlStudy{}, err
	}
	return parseJSONL(b)
}

// history returns when a study was made, and its events.
func (s *JSONL) history(ctx context.Context, study string) (time.Time, []assay.Event, error) {
	st, err := s.read(ctx, "read", study)
	return st.Created, st.events, err
}

func parseJSONL(b []byte) (st jsonlStudy, err error) {
	st.size = int64(bytes.LastIndexByte(b, '\n') + 1)
	head, rest, _ := bytes.Cut(b[:st.size], []byte{'\n'})
	if err := json.Unmarshal(head, &st.jsonlHead); err != nil {
		return st, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for line := range bytes.Lines(rest) {
		var batch []json.RawMessage
		if err := json.Unmarshal(line, &batch); err != nil {
			return st, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		for _, text := range batch {
			e, err := DecodeEvent(text)
			if err != nil {
				return st, err
			}
			st.events = append(st.events, e)
		}
	}
	return st, nil
}

// Append implements [assay.Store].
func (s *JSONL) Append(
	ctx context.Context, study string, at assay.Position, events ...assay.Event,
) (assay.Position, error) {
	batch := make([]json.RawMessage, len(events))
	for i, e := range events {
		var err error
		if batch[i], err = EncodeEvent(e); err != nil {
			return 0, err
		}
	}
	line, err := json.Marshal(batch)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	f, err := os.OpenFile(s.path(study), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, NotExist("append to", study)
	}
	if err != nil {
		return 0, err
	}
	defer f.Close() // which ends the lock
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return 0, err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return 0, err
	}
	st, err := parseJSONL(b)
	if err != nil {
		return 0, err
	}
	end, n := assay.Position(len(st.events)), assay.Position(len(events))
	switch {
	case at == end:
		// What stands behind the last whole line was cut short by the end of a process.
		if err := f.Truncate(st.size); err != nil {
			return 0, err
		}
		_, err = f.WriteAt(append(line, '\n'), st.size)
		return end + n, errors.Join(err, f.Sync())
	case at < 0 || at > end-n:
		return 0, Conflict(study, at, end)
	}
	same, err := samePayloads(st.events[at:at+n], events)
	if err == nil && !same {
		err = Conflict(study, at, end)
	}
	return at + n, err
}

// heads returns the heads of all studies in the order of their names.
func (s *JSONL) heads(ctx context.Context) ([]jsonlHead, error) {
	paths, err := filepath.Glob(filepath.Join(s.dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var all []jsonlHead
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		line, _, _ := bytes.Cut(b, []byte{'\n'})
		var h jsonlHead
		if err := json.Unmarshal(line, &h); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b jsonlHead) int { return cmp.Compare(a.Study, b.Study) })
	return all, ctx.Err()
}

// Studies implements [assay.Store].
func (s *JSONL) Studies(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		all, err := s.heads(ctx)
		for _, h := range all {
			if !yield(h.Study, nil) {
				return
			}
		}
		if err != nil {
			yield("", err)
		}
	}
}

// Spec implements [assay.Store].
func (s *JSONL) Spec(ctx context.Context, study string) ([]byte, error) {
	st, err := s.read(ctx, "read", study)
	return st.Spec, err
}

// Events implements [assay.Store]. It yields the events that there are when the iteration begins.
func (s *JSONL) Events(ctx context.Context, study string, after assay.Position) iter.Seq2[assay.Event, error] {
	return func(yield func(assay.Event, error) bool) {
		st, err := s.read(ctx, "read", study)
		if err != nil {
			yield(assay.Event{}, err)
			return
		}
		for _, e := range st.events[min(max(after, 0), assay.Position(len(st.events))):] {
			if err := ctx.Err(); err != nil {
				yield(assay.Event{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}
