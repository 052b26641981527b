package assay_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// set gives every exported field of a value something that is not its zero value.
func set(v reflect.Value, rng *rand.Rand) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			at := time.Unix(0, rng.Int64N(1<<61))
			if rng.IntN(2) == 0 {
				at = at.UTC()
			}
			v.Set(reflect.ValueOf(at))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				set(v.Field(i), rng)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(v.Elem(), rng)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+rng.IntN(3), 3))
		for i := range v.Len() {
			set(v.Index(i), rng)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + rng.IntN(3) {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			set(k, rng)
			set(e, rng)
			v.SetMapIndex(k, e)
		}
	case reflect.String:
		v.SetString(fmt.Sprint("text ", rng.IntN(10)))
	case reflect.Float64:
		v.SetFloat([]float64{
			1, -3, 0.1, math.Inf(1), -math.MaxFloat64, 1 << 30, -1 << 31, 1e300,
			math.Copysign(0, -1),
		}[rng.IntN(9)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(1 + rng.Uint64N(4))
	default:
		v.SetInt(1 + rng.Int64N(math.MaxInt32))
	}
}

// A shelf returns each trial as it was put there, whichever fields it has, also fields that are added one
// day.
func TestShelf(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var s assay.PackedTrials
		var all []assay.Trial
		put := func(x assay.Trial) {
			if n := s.Put(x); n != len(all) {
				t.Fatalf("the number of trial %d is %d", len(all), n)
			}
			all = append(all, x)
		}
		put(assay.Trial{})
		var each func(root *assay.Trial, v reflect.Value)
		each = func(root *assay.Trial, v reflect.Value) { // a trial with each of the fields alone
			for i := range v.NumField() {
				f := v.Field(i)
				if _, isTime := f.Interface().(time.Time); f.Kind() == reflect.Struct && !isTime {
					each(root, f)
					continue
				}
				set(f, rng)
				put(*root)
				f.SetZero()
			}
		}
		var one assay.Trial
		each(&one, reflect.ValueOf(&one).Elem())
		for range 20 { // and with most at once
			var x assay.Trial
			set(reflect.ValueOf(&x).Elem(), rng)
			x.Measurement.Curve, x.Measurement.Missing, x.Measurement.Failure = nil, nil, nil
			x.Measurement.Stdout, x.Measurement.Stderr, x.Decision = nil, nil, nil
			put(x)
		}
		put(assay.Trial{Started: time.Date(1, 2, 3, 4, 5, 6, 7, time.UTC), Ended: time.Now().In(time.FixedZone("", 3600))})
		if s.Len() != len(all) {
			t.Fatalf("it has %d trials of %d", s.Len(), len(all))
		}
		for i, got := range s.All() {
			want := all[i]
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: trial %d is\n%+v, put was\n%+v", seed, i, got, want)
			}
		}
	}
}

// A reading of the monotonic clock is not kept; the time is.
func TestShelfTime(t *testing.T) {
	var s assay.PackedTrials
	now := time.Now()
	s.Put(assay.Trial{Started: now})
	if got := s.At(0).Started; got != now.Round(0) {
		t.Errorf("%v became %v", now, got)
	}
}

// A trial on a shelf takes at most a sixth of the memory of one beside it.
func TestShelfIsSmall(t *testing.T) {
	const n = 20_000
	trial := func(i int) assay.Trial {
		at := time.Unix(1e9, int64(i)*1e6).UTC()
		return assay.Trial{
			Proposal: assay.Proposal{ID: int64(i), Config: assay.Config{float64(i), 0.5, 3, 1}}, State: assay.Done,
			Value: float64(i) / 7,
			Measurement: assay.Measurement{
				Worker: fmt.Sprint("worker ", i%64), MachineClass: "a class", Elapsed: time.Duration(i) * time.Millisecond,
				Metrics: map[string]float64{"elapsed": float64(i) / 7, "peak_rss": float64(i) * 4096},
			},
			Attempts: 1, Started: at, Ended: at.Add(time.Second),
		}
	}
	held := func(keep func(i int)) float64 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range n {
			keep(i)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		return float64(after.HeapAlloc-before.HeapAlloc) / n
	}
	var values []assay.Trial
	loose := held(func(i int) { values = append(values, trial(i)) })
	var s assay.PackedTrials
	packed := held(func(i int) { s.Put(trial(i)) })
	t.Logf("%.0f and %.0f bytes for each", loose, packed)
	if packed > loose/6 {
		t.Errorf("a trial takes %.0f bytes on a shelf and %.0f beside it", packed, loose)
	}
	runtime.KeepAlive(values)
	runtime.KeepAlive(&s)
}
