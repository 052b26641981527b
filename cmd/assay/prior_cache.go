package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/prune"
)

// A knownStudy is what the knowledge base remembers of a study on record: enough to
// say whether it serves another one, and how much they are alike.
type knownStudy struct {
	Name     string        `json:"name"`
	Created  int64         `json:"created_ns"`
	Told     int           `json:"told"` // trials in a final state
	Program  string        `json:"program,omitempty"`
	Space    int           `json:"space"` // index in the file's spaces
	Params   []assay.Param `json:"-"`     // one slice for all studies of a space
	Metric   string        `json:"metric"`
	Maximize bool          `json:"maximize,omitempty"`
	Unit     string        `json:"unit,omitempty"`
	Print    []float32     `json:"print,omitempty"` // prune.Fingerprint, or nil
	Flaw     string        `json:"flaw,omitempty"`  // why it serves nobody
}

// goal returns what a study must share.
func (k *knownStudy) goal() assay.Goal {
	return assay.Goal{Metric: k.Metric, Maximize: k.Maximize, Unit: k.Unit}
}

// A knowledgeBase is the studies on record, in a form that is read quickly. It
// keeps an index and the trials of each study in a directory beside the store. The
// events are the truth: what is missing there, old or damaged is made again.
type knowledgeBase struct {
	store  *storeHandle
	dir    string // "" if nothing is kept
	known  map[string]*knownStudy
	spaces [][]assay.Param
}

// intern returns the number of a list of parameters, and the one slice that stands
// for all equal lists.
func (kb *knowledgeBase) intern(params []assay.Param) (int, []assay.Param) {
	for i, s := range kb.spaces {
		if sameParams(s, params) {
			return i, s
		}
	}
	kb.spaces = append(kb.spaces, params)
	return len(kb.spaces) - 1, params
}

// knowledgeDir is where the knowledge base of a store is kept.
func knowledgeDir(store string) string { return store + ".knowledge" }

// openKnowledge returns the knowledge base of a store, up to date.
func openKnowledge(ctx context.Context, h *storeHandle) (*knowledgeBase, error) {
	kb := &knowledgeBase{store: h, known: map[string]*knownStudy{}}
	if h.path != "" {
		kb.dir = knowledgeDir(h.path)
	}
	old := kb.readIndex()
	changed := false
	for sum, err := range h.Summaries(ctx, "", 0) {
		if err != nil {
			return nil, err
		}
		told := 0
		for s, n := range sum.Counts {
			if s.Final() && s != assay.Withdrawn {
				told += int(n)
			}
		}
		if k := old[sum.Study]; k != nil && k.Created == sum.Created.UnixNano() && k.Told == told {
			kb.known[k.Name] = k
			continue
		}
		k, err := kb.learn(ctx, sum.Study, sum.Created.UnixNano())
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		kb.known[k.Name] = k
		changed = true
	}
	for name := range old {
		if kb.known[name] == nil {
			changed = true
			if kb.dir != "" {
				_ = os.Remove(kb.trialsFile(name)) // what is left behind does no harm
			}
		}
	}
	if changed {
		kb.writeIndex()
	}
	return kb, nil
}

// learn reads a study from its events and keeps its trials.
func (kb *knowledgeBase) learn(ctx context.Context, name string, created int64) (*knownStudy, error) {
	k := &knownStudy{Name: name, Created: created}
	trials, err := kb.told(ctx, name)
	if err != nil {
		return nil, err
	}
	k.Told = len(trials)
	st, err := stored(ctx, kb.store, name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		k.Flaw = forPeople(err)
		return k, nil
	}
	goal, err := st.Goal()
	if err != nil {
		k.Flaw = forPeople(err)
		return k, nil
	}
	k.Metric, k.Maximize, k.Unit, k.Program = goal.Metric, goal.Maximize, goal.Unit, programOf(st)
	var params []assay.Param
	for _, p := range st.Params {
		params = append(params, p.Param())
	}
	k.Space, k.Params = kb.intern(params)
	if slices.ContainsFunc(trials, func(t assay.Trial) bool { return len(t.Config) != len(k.Params) }) {
		k.Flaw = "its trials are not of its parameters (see assay study fsck)"
		return k, nil
	}
	print, err := prune.Fingerprint(prune.Study{Name: name, Params: k.Params, Goal: goal, Trials: trials})
	if err != nil {
		k.Flaw = forPeople(err)
		return k, nil
	}
	for _, x := range print {
		k.Print = append(k.Print, float32(x))
	}
	if kb.dir != "" {
		// The cache may be on a disk that is full, or read-only: then it is slow.
		_ = writeWhole(kb.trialsFile(name), encodeTrials(trials, len(k.Params)))
	}
	return k, nil
}

// programOf returns the name of the program that a study runs, "" for a table.
func programOf(st *config.Study) string {
	if len(st.Command) == 0 {
		return ""
	}
	if st.Shell {
		return st.Command[0]
	}
	return filepath.Base(st.Command[0])
}

// told returns the trials of a study that ended by themselves, in the order of their ends.
func (kb *knowledgeBase) told(ctx context.Context, name string) ([]assay.Trial, error) {
	var trials []assay.Trial
	for e, err := range kb.store.Events(ctx, name, 0) {
		if err != nil {
			return nil, err
		}
		if e.Told != nil && e.Told.State != assay.Withdrawn {
			trials = append(trials, assay.Trial{Proposal: e.Told.Proposal, State: e.Told.State, Value: e.Told.Value})
		}
	}
	return trials, nil
}

// trials returns the first n told trials of a study, and their digest. n < 0 stands
// for all. It returns an error that matches fs.ErrNotExist if there is no such
// study.
func (kb *knowledgeBase) trials(ctx context.Context, name string, n int) ([]assay.Trial, string, error) {
	k := kb.known[name]
	if k == nil {
		return nil, "", fmt.Errorf("study %q: %w", name, fs.ErrNotExist)
	}
	trials, ok := kb.cached(k)
	if !ok {
		var err error
		if trials, err = kb.told(ctx, name); err != nil {
			return nil, "", err
		}
	}
	if n < 0 {
		n = len(trials)
	}
	trials = trials[:min(n, len(trials))]
	sum := sha256.Sum256(encodeTrials(trials, len(k.Params)))
	return trials, hex.EncodeToString(sum[:8]), nil
}

// cached returns the trials that are kept beside the store, if they are whole and
// up to date.
func (kb *knowledgeBase) cached(k *knownStudy) ([]assay.Trial, bool) {
	if kb.dir == "" {
		return nil, false
	}
	b, err := os.ReadFile(kb.trialsFile(k.Name))
	if err != nil {
		return nil, false
	}
	trials, ok := decodeTrials(b, len(k.Params))
	return trials, ok && len(trials) == k.Told
}

// study returns an earlier study with its first n trials.
func (kb *knowledgeBase) study(ctx context.Context, name string, n int) (prune.Study, string, error) {
	trials, digest, err := kb.trials(ctx, name, n)
	if err != nil {
		return prune.Study{}, "", err
	}
	k := kb.known[name]
	return prune.Study{Name: name, Params: k.Params, Goal: k.goal(), Trials: trials}, digest, nil
}

func (kb *knowledgeBase) trialsFile(name string) string {
	return filepath.Join(kb.dir, "study-"+url.PathEscape(name)+".trials")
}

func (kb *knowledgeBase) indexFile() string { return filepath.Join(kb.dir, "index.json") }

// knowledgeVersion is the version of the files; those of another one are ignored.
const knowledgeVersion = 1

type knowledgeIndex struct {
	Version int             `json:"version"`
	Spaces  [][]assay.Param `json:"spaces"`
	Studies []*knownStudy   `json:"studies"`
}

// readIndex returns what was known; nothing if that cannot be read.
func (kb *knowledgeBase) readIndex() map[string]*knownStudy {
	old := map[string]*knownStudy{}
	if kb.dir == "" {
		return old
	}
	b, err := os.ReadFile(kb.indexFile())
	if err != nil {
		return old
	}
	var index knowledgeIndex
	if json.Unmarshal(b, &index) != nil || index.Version != knowledgeVersion {
		return old
	}
	for _, k := range index.Studies {
		if k == nil || k.Space < 0 || k.Space >= len(index.Spaces) {
			return map[string]*knownStudy{}
		}
		k.Params = index.Spaces[k.Space]
		old[k.Name] = k
	}
	kb.spaces = index.Spaces
	return old
}

func (kb *knowledgeBase) writeIndex() {
	if kb.dir == "" {
		return
	}
	index := knowledgeIndex{Version: knowledgeVersion, Spaces: kb.spaces}
	if index.Spaces == nil {
		index.Spaces = [][]assay.Param{nil} // of studies that could not be read
	}
	for _, k := range kb.known {
		index.Studies = append(index.Studies, k)
	}
	slices.SortFunc(index.Studies, func(a, b *knownStudy) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	if b, err := json.Marshal(index); err == nil {
		_ = writeWhole(kb.indexFile(), b)
	}
}

// writeWhole writes a file such that a reader sees the old or the new one.
func writeWhole(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// trialsMagic begins a file of trials.
const trialsMagic = "assay-t1"

// encodeTrials returns the bytes of trials with d coordinates each: the magic, the
// number of trials, for each the ID, the state, the value and the coordinates, and
// the CRC-32C of all that; little endian.
func encodeTrials(trials []assay.Trial, d int) []byte {
	b := make([]byte, 0, len(trialsMagic)+8+len(trials)*(17+8*d)+4)
	b = append(b, trialsMagic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(trials)))
	for _, t := range trials {
		b = binary.LittleEndian.AppendUint64(b, uint64(t.ID))
		b = append(b, byte(t.State))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(t.Value))
		for _, x := range t.Config {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// decodeTrials is the inverse of encodeTrials. ok is false unless b is whole.
func decodeTrials(b []byte, d int) (trials []assay.Trial, ok bool) {
	head, row := len(trialsMagic)+8, 17+8*d
	if len(b) < head+4 || string(b[:len(trialsMagic)]) != trialsMagic {
		return nil, false
	}
	body := b[:len(b)-4]
	n := binary.LittleEndian.Uint64(b[len(trialsMagic):])
	if n > uint64(len(b)) || len(body) != head+int(n)*row ||
		binary.LittleEndian.Uint32(b[len(body):]) != crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) {
		return nil, false
	}
	coordinates := make([]float64, int(n)*d)
	trials = make([]assay.Trial, n)
	for i := range trials {
		r := body[head+i*row:]
		c := coordinates[i*d : (i+1)*d : (i+1)*d]
		for j := range c {
			c[j] = math.Float64frombits(binary.LittleEndian.Uint64(r[17+8*j:]))
		}
		trials[i] = assay.Trial{
			Proposal: assay.Proposal{ID: int64(binary.LittleEndian.Uint64(r)), Config: c},
			State:    assay.State(r[8]), Value: math.Float64frombits(binary.LittleEndian.Uint64(r[9:])),
		}
		if !trials[i].State.Final() || trials[i].State > assay.Infeasible {
			return nil, false
		}
	}
	return trials, true
}
