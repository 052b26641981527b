package run

import "context"

// A tee is given the output of a run.
type tee struct{ stdout, stderr func(p []byte) }

type teeKey struct{}

// Tee returns a context in which a [Local] passes the whole output of a run, as it is printed, to two functions, in
// addition to the part that it keeps. Each is called by one goroutine at a time, must not keep the slice, and delays
// the program if it takes long and the program prints more than a pipe holds. The measurement ends with the program,
// even if its last output is still being passed on. This applies only to the run itself, which has an attempt in its
// ID, not to commands beside it.
func Tee(ctx context.Context, stdout, stderr func(p []byte)) context.Context {
	return context.WithValue(ctx, teeKey{}, tee{stdout, stderr})
}
