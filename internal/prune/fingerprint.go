package prune

import (
	"math/rand/v2"

	"github.com/assay-run/assay"
)

// FingerprintPoints is the length of a [Fingerprint].
const FingerprintPoints = 64

// Fingerprint returns the surrogate of a study at 64 configurations that depend on its parameters only, drawn from
// their space without relations. stats.CrossCorrelation of two fingerprints compares studies of equal parameters in a
// microsecond, and estimates the result of [Rank]. It returns an error for a study that cannot serve one like itself;
// see [Match].
func Fingerprint(s Study) ([]float64, error) {
	space, err := assay.NewSpace(s.Params)
	if err != nil {
		return nil, err
	}
	src, err := newSource(space, s.Goal, s)
	if err != nil {
		return nil, err
	}
	// The seed is part of the meaning of a fingerprint: with another one, stored fingerprints could not be
	// compared with new ones.
	rng := rand.New(rand.NewPCG(64, 0))
	out := make([]float64, FingerprintPoints)
	for i := range out {
		c, _ := space.Draw(rng) // without relations there always is one
		out[i] = src.predict(c)
	}
	return out, nil
}
