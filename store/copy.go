// This file copies studies from one store to another, record by record as they are: the bytes,
// and so the hashes, stay the same.

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/assay-run/assay"
)

// Records has records as bytes, which can be put into a store.
type Records interface {
	// Records yields the records of a study from that number on, 0 for all, verified.
	Records(ctx context.Context, study string, first int64) iter.Seq2[Record, error]
}

// A Copier is a store that keeps records as bytes, which can be taken out and put into another.
type Copier interface {
	assay.Store
	Records
	// CreateFrom makes a study by the payload of its record 0. If there is one of that name
	// with the same record 0, that is no error; another matches fs.ErrExist.
	CreateFrom(ctx context.Context, payload []byte) error
	// AppendPayloads is Append of events that are encoded.
	AppendPayloads(ctx context.Context, study string, at assay.Position, payloads ...[]byte) (assay.Position, error)
}

// CreateFrom is the CreateFrom of a [Copier] that has a function which makes a study of its record 0, and whose error
// matches fs.ErrExist if there is one of that name.
func CreateFrom(ctx context.Context, s Records, payload []byte, create func(Creation) error) error {
	c, err := DecodeCreation(payload)
	if err != nil {
		return err
	}
	if err = create(c); !errors.Is(err, fs.ErrExist) {
		return err
	}
	for r, failed := range s.Records(ctx, c.Study, 0) {
		if failed != nil {
			return failed
		}
		if bytes.Equal(r.Payload, payload) {
			return nil
		}
		break
	}
	return err
}

// A Copied is the result of a copy.
type Copied struct {
	Events int64 // of the study where it was copied from
	New    int64 // of them, those that were not there before
	More   int64 // that the copy has beyond them, because it was gone on with
}

// ErrOther reports that the store has another study of that name.
var ErrOther = assay.Errorf(assay.ClassConflict, "there is another study of that name")

// Copy copies the records of a study that are not in to yet, and verifies the whole copy. A call that was cut off can
// be made again, and goes on. If to has a study of that name that is not the beginning of this one, nor its
// continuation, the error matches [ErrOther], and nothing is changed. A study that grows meanwhile is copied as far as
// it was read.
func Copy(ctx context.Context, from Records, to Copier, study string) (c Copied, err error) {
	there, last, err := endOf(ctx, to, study)
	if err != nil {
		return c, err
	}
	var page [][]byte
	flush := func(at int64) error { // at is the number of the last record of the page
		_, err := to.AppendPayloads(ctx, study, assay.Position(at-int64(len(page))), page...)
		page = page[:0]
		return err
	}
	var hash []byte
	for r, err := range from.Records(ctx, study, 0) {
		if err != nil {
			return c, err
		}
		c.Events, hash = r.Seq, r.Hash
		switch {
		case r.Seq == there && !bytes.Equal(r.Hash, last):
			return c, fmt.Errorf("study %q: %w: event %d differs, or one before it", study, ErrOther, r.Seq)
		case r.Seq == 0 && there < 0:
			if err := to.CreateFrom(ctx, r.Payload); err != nil {
				return c, otherwise(study, err)
			}
		case r.Seq > there:
			page, c.New = append(page, r.Payload), c.New+1
		}
		if len(page) == PageRows {
			if err := flush(r.Seq); err != nil {
				return c, otherwise(study, err)
			}
		}
	}
	if len(page) > 0 {
		if err := flush(c.Events); err != nil {
			return c, otherwise(study, err)
		}
	}
	err = c.verify(ctx, to, study, hash)
	return c, err
}

// verify reads the copy back from the first record on; its last record must have the hash.
func (c *Copied) verify(ctx context.Context, to Copier, study string, hash []byte) error {
	found := false
	for r, err := range to.Records(ctx, study, 0) {
		if err != nil {
			return fmt.Errorf("the copy: %w", err)
		}
		if r.Seq == c.Events {
			found = bytes.Equal(r.Hash, hash)
		}
		c.More = r.Seq - c.Events
	}
	if !found {
		return fmt.Errorf("study %q: %w: event %d differs, or one before it", study, ErrOther, c.Events)
	}
	return nil
}

// otherwise returns ErrOther for an error that means that the study differs from the copy.
func otherwise(study string, err error) error {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, assay.ErrConflict) {
		return fmt.Errorf("study %q: %w", study, ErrOther)
	}
	return err
}

// endOf returns the number and the hash of the last record of a study, -1 without one.
func endOf(ctx context.Context, s Copier, study string) (seq int64, hash []byte, err error) {
	seq = -1
	for r, err := range s.Records(ctx, study, 0) {
		if errors.Is(err, fs.ErrNotExist) {
			return -1, nil, nil
		}
		if err != nil {
			return 0, nil, err
		}
		seq, hash = r.Seq, r.Hash
	}
	return seq, hash, nil
}

// DecodePayloads returns the events of payloads.
func DecodePayloads(payloads [][]byte) ([]assay.Event, error) {
	events := make([]assay.Event, len(payloads))
	for i, p := range payloads {
		var err error
		if events[i], err = DecodeEvent(p); err != nil {
			return nil, err
		}
	}
	return events, nil
}
