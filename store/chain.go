// This file has the record: a payload with a checksum that shows damage of this record, and a hash that shows whether
// records before it are missing, exchanged or added. Neither protects against people: anyone who can write a file can
// write a new chain.

package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"time"
)

// A Record is one row of the events table. Record 0 of a study is its
// [Creation]; the others are events, numbered from 1 without gaps.
type Record struct {
	// Study is the number that the store gave the study, and differs between files.
	Study, Seq int64
	// Payload is not copied: the maker of a Record gives the slice away.
	Payload []byte
	CRC     uint32
	Hash    []byte // of this record and all before it; see link
}

// A Creation is the payload of record 0. It makes the events alone enough to restore everything else of a study.
type Creation struct {
	Study string `json:"study"`
	// Spec is nil for none. JSON has it in base64.
	Spec    []byte    `json:"spec"`
	Created time.Time `json:"created"`
}

// NewCreation returns record 0 of a study that is made now, and its payload.
func NewCreation(study string, spec []byte) (c Creation, payload []byte, err error) {
	if err := CheckName(study); err != nil {
		return c, nil, err
	}
	c = Creation{Study: study, Spec: spec, Created: time.Now().UTC()}
	payload, err = c.Encode()
	return c, payload, err
}

// Encode returns the payload.
// The bytes go into the checksum and the hash, so the order of the keys is part of the format.
func (c Creation) Encode() ([]byte, error) { return json.Marshal(c) }

// DecodeCreation is the inverse of [Creation.Encode]. It returns an error for a name that no study can have.
func DecodeCreation(b []byte) (c Creation, err error) {
	if err := json.Unmarshal(b, &c); err != nil {
		return Creation{}, fmt.Errorf("creation: %w", err)
	}
	return c, CheckName(c.Study)
}

// Checksum returns the CRC-32C of the study's number and seq, 8 bytes each, little endian, and the payload. It
// detects a damaged record alone, without its neighbours. The study's number is part of it, so that a row in the
// wrong study is found. CRC-32C is defined in RFC 3720.
func Checksum(study, seq int64, payload []byte) uint32 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(study))
	binary.LittleEndian.PutUint64(b[8:], uint64(seq))
	// This costs nothing: MakeTable returns the same table for this polynomial each time.
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(b[:], table), table, payload)
}

// link returns the hash of a record: the SHA-256 of the hash of the record before it (32 zero bytes for record 0), its
// seq in 8 bytes, little endian, and its payload. It does not depend on the study's number, which differs between
// files.
func link(prev []byte, seq int64, payload []byte) []byte {
	h := sha256.New()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(seq))
	h.Write(prev)
	h.Write(b[:])
	h.Write(payload)
	return h.Sum(nil)
}

// Genesis stands for the hash of the record before the first. The slice is the caller's.
func Genesis() []byte { return make([]byte, sha256.Size) }

// NewRecord returns the record that follows one with the hash prev.
// The record shares payload. prev is [Genesis] for record 0.
func NewRecord(prev []byte, study, seq int64, payload []byte) Record {
	return Record{study, seq, payload, Checksum(study, seq, payload), link(prev, seq, payload)}
}

// A Verifier checks that the records of one study are the appended ones, in order. It starts with record 0, or with
// any other, whose hash it believes. It does not know how many records there are: the store must check whether the
// last is missing. A Verifier is for one goroutine.
type Verifier struct {
	Next int64  // seq of the next record
	Hash []byte // of the last one; nil if the next is the first, and not record 0
}

// NewVerifier returns a Verifier that starts with the record of that number. A first below 0 counts as 0. For a first
// record above 0 the checksum is checked and not the hash.
func NewVerifier(first int64) *Verifier {
	if first > 0 {
		return &Verifier{Next: first}
	}
	return &Verifier{Hash: Genesis()}
}

// Check returns an error that matches [ErrDamaged] unless r is the next record. It then goes on behind r, so that one
// fault is reported once. v keeps r.Hash without a copy.
func (v *Verifier) Check(r Record) error {
	want := v.Next
	prev := v.Hash
	v.Next, v.Hash = r.Seq+1, r.Hash
	switch {
	case r.Seq != want:
		return fmt.Errorf("%w: record %d follows record %d", ErrDamaged, r.Seq, want-1)
	case r.CRC != Checksum(r.Study, r.Seq, r.Payload):
		return fmt.Errorf("%w: record %d has a wrong checksum", ErrDamaged, r.Seq)
	case prev != nil && !bytes.Equal(r.Hash, link(prev, r.Seq, r.Payload)):
		return fmt.Errorf("%w: record %d has a wrong hash", ErrDamaged, r.Seq)
	}
	return nil
}
