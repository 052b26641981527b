package prior

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/assay-run/assay"
)

// This file is the format of the cached trials of one study. A coordinate is a float64, bit
// for bit, so that a trial that is read from the cache has the same digest as one that is read
// from the events.

// trialsMagic begins a file of trials.
// The digit is the version of the format: a reader of another one sees no cache.
const trialsMagic = "assay-t1"

// encodeTrials returns the bytes of trials with d coordinates each: the magic, the
// number of trials, for each the ID, the state, the value and the coordinates, and
// the CRC-32C of all that; little endian.
// Each trial has 17+8d bytes: 8 for the ID, 1 for the state, 8 for the value, 8 for each
// coordinate. The digest that a study on record holds of its helpers is of these bytes: a
// change of the format makes such studies impossible to resume.
//
// Every Config must have d coordinates.
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
// No trial that it returns shares memory with b. The coordinates of all share one array, each
// cut to its capacity, so that appending to one does not change the next.
//
// The number n is checked against the length first, so that a damaged file cannot ask for much
// memory.
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
		// A file that was whole when it was written can still hold a state that this version
		// does not know.
		if !trials[i].State.Final() || trials[i].State > assay.Infeasible {
			return nil, false
		}
	}
	return trials, true
}
