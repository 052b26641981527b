package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/report"
)

const (
	maxKeptStream = 256 << 20 // bytes of each output of a run
	maxKept       = 10 << 30  // bytes of all
	// withOutcome is the size of the outputs that an outcome always has room for: larger outputs are sent separately.
	withOutcome = 24 << 10
	// sendWait is the longest time between two tries to send kept files, and lastSend the time limit for sending when the
	// worker ends.
	sendWait  = time.Minute
	sendFirst = 250 * time.Millisecond
	lastSend  = 20 * time.Second
	// cleanEvery is the interval of the removal of old files.
	cleanEvery = time.Hour
)

// kept stores the outputs of runs, in a directory for each attempt:
//
//	KEY/stdout, KEY/stderr   the output of the run, up to 256 MiB each
//	KEY/about.json           the attempt, and whether its files were sent
//	KEY/list, KEY/blobs/H    files to send to the server: removed when it has them
//
// A list is sent after its outcome, so that it is on record then. kept is safe for concurrent use.
type kept struct {
	dir  string
	keep time.Duration
	out  *lines
	news chan struct{} // something may be sent

	mu      sync.Mutex
	running map[string]bool // by key: attempts that are written
}

// An about describes the attempt of a directory.
type about struct {
	ID    assay.RunID `json:"id"`
	Files string      `json:"files,omitempty"` // the hash of the list
	Told  bool        `json:"told,omitempty"`  // the server has the outcome
	Sent  bool        `json:"sent,omitempty"`
	Ended time.Time   `json:"ended"`
}

func openKept(dir string, keep time.Duration, out *lines) (*kept, error) {
	k := &kept{dir: dir, keep: keep, out: out, news: make(chan struct{}, 1), running: map[string]bool{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	k.expire(time.Now())
	return k, nil
}

// A keeper stores the outputs and files of one run.
type keeper struct {
	k    *kept
	id   assay.RunID
	dir  string
	out  [2]stream
	note error
}

// A stream is a file that is created with its first byte.
type stream struct {
	f    *os.File
	n    int64
	over bool
}

// begin begins to store the output of an attempt.
func (k *kept) begin(id assay.RunID) *keeper {
	key := keyOf(id)
	k.mu.Lock()
	k.running[key] = true
	k.mu.Unlock()
	return &keeper{k: k, id: id, dir: filepath.Join(k.dir, key)}
}

func (r *keeper) stdout(p []byte) { r.write(0, "stdout", p) }
func (r *keeper) stderr(p []byte) { r.write(1, "stderr", p) }

// write appends to an output. If the disk is full or the output too long, only the rest of the output is lost.
func (r *keeper) write(i int, name string, p []byte) {
	s := &r.out[i]
	if s.over {
		return
	}
	var err error
	if s.f == nil {
		if err = os.MkdirAll(r.dir, 0o700); err == nil {
			s.f, err = os.OpenFile(filepath.Join(r.dir, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		}
	}
	if room := maxKeptStream - s.n; int64(len(p)) > room {
		p, s.over = p[:room], true
	}
	n := 0
	if err == nil {
		n, err = s.f.Write(p)
	}
	s.n += int64(n)
	if err != nil {
		s.over = true
		r.note = err
	}
}

// end keeps the files of a run that match the patterns of its job, and returns the hash of the list of files to send,
// "" if there are no files or no server to send them to. A file that cannot be kept does not fail the measurement; it
// is reported.
func (r *keeper) end(job assay.Job, m assay.Measurement, sends bool) (hash string) {
	k := r.k
	defer func() {
		k.mu.Lock()
		delete(k.running, keyOf(r.id))
		k.mu.Unlock()
	}()
	for _, s := range r.out {
		if s.f != nil {
			s.f.Close()
		}
	}
	err := r.note
	if sends {
		var e error
		if hash, e = r.list(job, m); e != nil {
			err = cmp.Or(err, e)
		}
	}
	if _, e := os.Stat(r.dir); e == nil {
		err = cmp.Or(err, k.write(about{ID: r.id, Files: hash, Ended: time.Now().UTC()}))
	}
	if err != nil {
		k.out.of(r.id, "its files are not kept, or not all of them: %v", err)
	}
	return hash
}

// list writes the list of the files to send.
func (r *keeper) list(job assay.Job, m assay.Measurement) (hash string, err error) {
	long := len(m.Stdout)+len(m.Stderr) > withOutcome
	if len(job.Outputs) == 0 && !long {
		return "", nil
	}
	to := filepath.Join(r.dir, "blobs")
	if err := os.MkdirAll(to, 0o700); err != nil {
		return "", err
	}
	list := &files.Manifest{}
	inputs := map[string]bool{}
	for _, in := range job.Inputs {
		inputs[in.Name] = true
	}
	if err := files.Gather(job.Dir, job.Outputs, inputs, to, list); err != nil {
		return "", err
	}
	if long {
		for _, s := range []struct {
			data []byte
			to   **files.Kept
		}{{m.Stdout, &list.Stdout}, {m.Stderr, &list.Stderr}} {
			if len(s.data) == 0 || len(s.data) > files.MaxStream {
				continue
			}
			h := hashOf(s.data)
			if err := os.WriteFile(filepath.Join(to, h), s.data, 0o600); err != nil {
				return "", err
			}
			*s.to = &files.Kept{SHA256: h, Size: int64(len(s.data))}
		}
	}
	if list.Empty() {
		os.Remove(to)
		os.Remove(r.dir) // nothing if something else is in it
		return "", nil
	}
	text, err := list.Encode()
	if err != nil {
		return "", err
	}
	return hashOf(text), files.WriteFile(filepath.Join(r.dir, "list"), text, 0o600)
}

func (k *kept) path(id assay.RunID) string { return filepath.Join(k.dir, keyOf(id)) }

// write writes the description of a directory.
func (k *kept) write(a about) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return files.WriteFile(filepath.Join(k.path(a.ID), "about.json"), b, 0o600)
}

// read returns the description of a directory.
func (k *kept) read(key string) (a about, ok bool) {
	b, err := os.ReadFile(filepath.Join(k.dir, key, "about.json"))
	return a, err == nil && json.Unmarshal(b, &a) == nil && keyOf(a.ID) == key
}

// told records that the server has an outcome: its files may be sent.
func (k *kept) told(o queue.Outcome) {
	if o.Files == "" {
		return
	}
	if a, ok := k.read(keyOf(o.ID)); ok && !a.Told {
		a.Told = true
		if err := k.write(a); err != nil {
			k.out.of(o.ID, "its files are not sent: %v", err)
		}
	}
	select {
	case k.news <- struct{}{}:
	default:
	}
}

// refused records that the server does not want the files of an attempt.
func (k *kept) refused(id assay.RunID) {
	if a, ok := k.read(keyOf(id)); ok && a.Files != "" {
		k.done(a)
	}
}

// done removes the files that were sent.
func (k *kept) done(a about) {
	a.Sent = true
	if err := k.write(a); err != nil {
		k.out.of(a.ID, "%v", err)
		return
	}
	os.Remove(filepath.Join(k.path(a.ID), "list"))
	_ = os.RemoveAll(filepath.Join(k.path(a.ID), "blobs")) // it goes with the rest
}

// pending returns the attempts with files to send, the earliest first.
func (k *kept) pending() (all []about) {
	entries, _ := os.ReadDir(k.dir) // the next try reports it
	for _, e := range entries {
		if a, ok := k.read(e.Name()); ok && a.Told && !a.Sent && a.Files != "" {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b about) int { return a.Ended.Compare(b.Ended) })
	return all
}

// expire removes directories older than the retention time, and the oldest ones above the size limit.
func (k *kept) expire(now time.Time) {
	entries, _ := os.ReadDir(k.dir)
	type one struct {
		key   string
		at    time.Time
		bytes int64
	}
	var all []one
	var total int64
	for _, e := range entries {
		k.mu.Lock()
		busy := k.running[e.Name()]
		k.mu.Unlock()
		info, err := e.Info()
		if busy || err != nil {
			continue
		}
		o := one{e.Name(), info.ModTime(), 0}
		_ = filepath.WalkDir(filepath.Join(k.dir, e.Name()), func(_ string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				if info, err := e.Info(); err == nil {
					o.bytes += info.Size()
				}
			}
			return nil
		})
		total += o.bytes
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b one) int { return a.at.Compare(b.at) })
	for _, o := range all {
		if now.Sub(o.at) < k.keep && total <= maxKept {
			continue
		}
		if err := files.RemoveAll(filepath.Join(k.dir, o.key)); err != nil {
			k.out.f("the kept files of a run cannot be removed: %v", err)
			continue
		}
		total -= o.bytes
	}
}

// send sends kept files, until over is closed and nothing is left, or for a limited time longer.
func (w *worker) send(over <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.kill))
	defer cancel()
	said, cleaned := map[string]bool{}, time.Now()
	var last <-chan time.Time
	for wait := sendFirst; ; {
		left := 0
		if w.Blobs != nil {
			for _, a := range w.kept.pending() {
				if !w.sendOne(ctx, a, said) {
					left++
				}
			}
		}
		if time.Since(cleaned) > cleanEvery {
			cleaned = time.Now()
			w.kept.expire(cleaned)
		}
		if over == nil && left == 0 {
			return
		}
		delay := cleanEvery
		if wait = min(2*wait, sendWait); left > 0 {
			delay = wait
		} else {
			wait = sendFirst
		}
		t := time.NewTimer(delay)
		select {
		case <-w.kept.news:
		case <-t.C:
		case <-over:
			over, wait = nil, sendFirst
			last = time.After(lastSend)
		case <-last:
			w.out.f("the files of %s are not sent: the next worker with the directory %s sends them",
				report.Count(left, "run", "runs"), w.Dir)
			t.Stop()
			return
		}
		t.Stop()
	}
}

// sendOne sends the kept files of one run, and reports whether none of them is left.
func (w *worker) sendOne(ctx context.Context, a about, said map[string]bool) bool {
	dir := w.kept.path(a.ID)
	text, err := os.ReadFile(filepath.Join(dir, "list"))
	var list *files.Manifest
	if err == nil {
		list, err = files.ParseManifest(text)
	}
	if err != nil {
		w.out.of(a.ID, "its files are not sent: %v", err)
		w.kept.done(a)
		return true
	}
	if err = w.Blobs.PutBlob(ctx, a.Files, filepath.Join(dir, "list"), a.ID.Study, ""); err == nil {
		for _, f := range list.All() {
			if err = w.Blobs.PutBlob(ctx, f.SHA256, filepath.Join(dir, "blobs", f.SHA256), a.ID.Study, a.Files); err != nil {
				break
			}
		}
	}
	switch class := assay.ClassOf(err); {
	case err == nil:
		w.kept.done(a)
		return true
	case class == assay.ClassUsage || class == assay.ClassNotFound:
		w.out.of(a.ID, "the server refuses its files: %v", err)
		w.kept.done(a)
		return true
	}
	if text := fmt.Sprintf("files of runs are not sent: %v", err); !said[text] && ctx.Err() == nil {
		said[text] = true
		w.out.of(a.ID, "%s; it is tried again", text)
	}
	return false
}
