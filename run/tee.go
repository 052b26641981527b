package run

import "context"

// A tee is given what a run prints.
type tee struct{ stdout, stderr func(p []byte) }

type teeKey struct{}

// Tee returns a context in which a [Local] gives what a run prints, as it does, to two functions, beside what it keeps:
// all of it, however much that is. Each is called by one goroutine at a time, must not keep the slice, and delays the
// program if it takes long. Only the run itself is meant, which has an attempt in its ID: not what is run beside it.
func Tee(ctx context.Context, stdout, stderr func(p []byte)) context.Context {
	return context.WithValue(ctx, teeKey{}, tee{stdout, stderr})
}
