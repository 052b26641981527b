package server

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/assay-run/assay/internal/files"
)

const (
	blobsDir     = "blobs"
	outputsDir   = "outputs"
	defaultBlobs = 10 << 30
	// collectEvery is the interval of the search for unneeded blobs, besides the start. collectAge is how long they are
	// kept, because inputs are sent before the study that names them.
	collectEvery = time.Hour
	collectAge   = 24 * time.Hour
)

// openBlobs opens the files of the studies. Incomplete uploads are removed.
func (s *server) openBlobs() (err error) {
	if s.store.Path == "" { // a database keeps no outputs
		s.store.Outputs = filepath.Join(s.o.Dir, outputsDir)
	}
	s.blobs, err = files.Open(filepath.Join(s.o.Dir, blobsDir), cmp.Or(s.o.Blobs, defaultBlobs))
	return err
}

// collect removes, from time to time, the blobs that no study on record names.
func (s *server) collect(ctx context.Context) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(collectEvery)
		defer t.Stop()
		for {
			_, err := s.blobs.Collect(collectAge, func(old map[string]bool) (map[string]bool, error) {
				return s.needed(ctx, old)
			})
			if err != nil && ctx.Err() == nil {
				s.o.Log.Warn("unused blobs are not removed: " + err.Error())
			}
			select {
			case <-t.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	s.end(func() error { stop(); <-done; return nil })
}

// needed returns which of the old blobs a study on record names: as an input, as a manifest of kept files, or in such a
// manifest.
func (s *server) needed(ctx context.Context, old map[string]bool) (map[string]bool, error) {
	need := map[string]bool{}
	for study, err := range s.store.Studies(ctx) {
		if err != nil {
			return nil, err
		}
		def, err := s.store.Definition(ctx, study)
		if err != nil {
			return nil, err
		}
		inputs, _ := def.Staged.Stage()
		for _, in := range inputs {
			need[in.SHA256] = true
		}
		for e, err := range s.store.Events(ctx, study, 0) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			if e.Booked != nil && e.Booked.Files != "" {
				need[e.Booked.Files] = true
				s.listed(e.Booked.Files, need)
			}
		}
	}
	return need, nil
}

// listed adds the files of a manifest. A missing or damaged manifest adds none.
func (s *server) listed(hash string, need map[string]bool) {
	f, err := s.blobs.Open(hash, false)
	if err != nil {
		return
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, files.MaxManifest+1))
	if err != nil && !os.IsNotExist(err) {
		return
	}
	if m, err := files.ParseManifest(b); err == nil {
		for _, k := range m.All() {
			need[k.SHA256] = true
		}
	}
}
