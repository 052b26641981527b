package assay

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Relation is a condition between parameters that every admissible
// configuration satisfies, such as "threads <= 4 || preset == 'fast'".
type Relation struct {
	Text   string // as the user wrote it
	Params []int  // indices of the parameters it depends on, none twice
	// Holds reports whether c satisfies the relation. It reads only the coordinates of Params, and is safe for concurrent
	// use.
	Holds func(c Config) bool
}

// ErrEmpty is returned when no configuration is admissible.
var ErrEmpty = Errorf(ClassUsage, "no configuration is admissible")

// A Space is an ordered list of parameters, the relations between them, or in place of both an explicit list of the
// admissible configurations. It is immutable and safe for concurrent use. Make one with [NewSpace] or [NewList].
//
// A parameter may have a condition, [Param.When]. While the parameter is not in force, its coordinate is at rest, see
// [Space.Active], and a relation that reads it does not apply.
//
// Relations and conditions split the parameters into independent groups: two parameters that appear in one are in the
// same group. The admissible tuples of a countable group are found once and stored in a shared form, so that the size
// of the space is exact and draws need no rejection, unless there are too many to visit.
type Space struct {
	Params    []Param
	Relations []Relation

	order []int     // of parameters, each behind those its condition reads; nil without conditions
	rest  []float64 // their coordinates at rest, if there are conditions

	list   *listing // the admissible configurations, or nil
	groups []group  // a partition of the parameters; nil if list is set
	size   Size
}

// NewSpace returns the space of all configurations that satisfy every
// relation. It returns an error that names the parameter or relation at fault,
// and one that matches [ErrEmpty] if no configuration is admissible, or if the
// relations are so narrow that none was found in 2^20 draws.
func NewSpace(params []Param, relations ...Relation) (*Space, error) {
	s, err := newSpace(params, relations)
	if err != nil {
		return nil, err
	}
	if err := s.makeGroups(); err != nil {
		return nil, err
	}
	s.size = Size{N: 1}
	for i := range s.groups {
		s.size = s.size.times(s.groups[i].size)
	}
	return s, nil
}

// NewList returns the space of exactly the listed configurations that satisfy
// every relation, in their order, without repetitions. It returns an error if a
// configuration has a coordinate that its parameter does not have, and one that
// matches [ErrEmpty] if none is left.
func NewList(params []Param, configs []Config, relations ...Relation) (*Space, error) {
	s, err := newSpace(params, relations)
	if err != nil {
		return nil, err
	}
	l := newLister(len(configs), len(params))
	for i, c := range configs {
		if err := s.checkValues(c); err != nil {
			return nil, fmt.Errorf("configuration %d: %w", i+1, err)
		}
		c = s.Rested(c)
		if l.has(c) || s.broken(c) >= 0 {
			continue
		}
		l.add(c)
	}
	s.list = l.listing
	if l.n == 0 {
		return nil, fmt.Errorf("%w: none of the %d listed satisfies the relations", ErrEmpty, len(configs))
	}
	s.size = Size{N: int64(l.n)}
	return s, nil
}

// newSpace returns a space that has neither groups nor a list yet.
func newSpace(params []Param, relations []Relation) (*Space, error) {
	if err := checkParams(params, relations); err != nil {
		return nil, err
	}
	s := &Space{Params: slices.Clone(params), Relations: slices.Clone(relations)}
	return s, s.makeOrder()
}

// checkParams returns the first flaw of the parameters, or of the declared dependencies of the relations. It cannot
// check that a relation reads nothing else.
func checkParams(params []Param, relations []Relation) error {
	if len(params) == 0 {
		return errors.New("a space needs at least one parameter")
	}
	seen := map[string]bool{}
	for _, p := range params {
		if err := p.validate(); err != nil {
			return err
		}
		if seen[p.Name] {
			return fmt.Errorf("parameter %q is declared twice", p.Name)
		}
		seen[p.Name] = true
	}
	for _, r := range relations {
		for _, i := range r.Params {
			if i < 0 || i >= len(params) {
				return fmt.Errorf("relation %q depends on parameter %d of %d", r.Text, i, len(params))
			}
		}
	}
	return nil
}

// Dim returns the number of parameters.
func (s *Space) Dim() int { return len(s.Params) }

// Index returns the index of the parameter of that name, or -1.
func (s *Space) Index(name string) int {
	return slices.IndexFunc(s.Params, func(p Param) bool { return p.Name == name })
}

// Listed reports whether the space is an explicit list.
func (s *Space) Listed() bool { return s.list != nil }

// Size returns the number of admissible configurations.
func (s *Space) Size() Size { return s.size }

// Indexed reports whether [Space.At] works: the size is exact and every
// configuration can be reached by its index.
func (s *Space) Indexed() bool {
	if s.list != nil {
		return true
	}
	return s.size.N > 0 && !slices.ContainsFunc(s.groups, func(g group) bool { return !g.indexed() })
}

// At returns the i-th configuration, 0 <= i < Size().N, in lexical order of the
// parameter groups, or in the order of the list. It panics if the space is not
// [Space.Indexed].
func (s *Space) At(i int64) Config {
	if !s.Indexed() || i < 0 || i >= s.size.N {
		panic(fmt.Sprintf("assay: configuration %d of a space of size %v", i, s.size))
	}
	if s.list != nil {
		return s.list.at(int(i))
	}
	c := make(Config, len(s.Params))
	for k := len(s.groups) - 1; k >= 0; k-- {
		g := &s.groups[k]
		g.set(s, c, i%g.size.N)
		i /= g.size.N
	}
	return c
}

// All yields every configuration of an [Space.Indexed] space in the order of
// [Space.At].
func (s *Space) All() iter.Seq[Config] {
	return func(yield func(Config) bool) {
		for i := range s.size.N {
			if !yield(s.At(i)) {
				return
			}
		}
	}
}

// Check returns nil if c is admissible, else an error with the reason: the number of coordinates, the first coordinate
// that is not a value of its parameter, the first broken relation, or that c is not listed. [Space.Contains] is
// quicker.
func (s *Space) Check(c Config) error {
	if err := s.checkCoords(c); err != nil {
		return err
	}
	if i := s.broken(c); i >= 0 {
		return fmt.Errorf("%s does not satisfy %q", s.Text(c), s.Relations[i].Text)
	}
	if s.list != nil {
		if !s.list.has(c) {
			return fmt.Errorf("%s is not one of the %d listed configurations", s.Text(c), s.list.n)
		}
	}
	return nil
}

// Contains reports whether c is admissible.
func (s *Space) Contains(c Config) bool {
	if s.list != nil {
		return s.list.has(c)
	}
	return s.checkCoords(c) == nil && s.broken(c) < 0
}

// checkCoords returns an error unless each coordinate of c is one of its parameter, and at rest
// where that is not in force.
func (s *Space) checkCoords(c Config) error {
	if err := s.checkValues(c); err != nil {
		return err
	}
	for _, i := range s.order {
		if p := &s.Params[i]; p.When != nil && c[i] != s.rest[i] && !s.Active(c, i) {
			return fmt.Errorf("parameter %q is in force only when %s", p.Name, p.When.Text)
		}
	}
	return nil
}

// checkValues returns an error unless each coordinate of c is one of its parameter.
func (s *Space) checkValues(c Config) error {
	if len(c) != len(s.Params) {
		return fmt.Errorf("a configuration of %d coordinates for %d parameters", len(c), len(s.Params))
	}
	for i := range s.Params {
		if p := &s.Params[i]; !p.Contains(c[i]) {
			return fmt.Errorf("parameter %q has no value at coordinate %v", p.Name, c[i])
		}
	}
	return nil
}

// broken returns the index of the first relation that c does not satisfy, or -1.
func (s *Space) broken(c Config) int {
	return slices.IndexFunc(s.Relations, func(r Relation) bool { return s.says(&r, c) && !r.Holds(c) })
}

// Draw returns a configuration drawn from the admissible ones. Free parameters are drawn uniformly on their search
// scale, each related group of at most 2^20 tuples uniformly over its tuples, and each other group as its parameters on
// their scales, given that the tuple is admissible. A parameter with a condition is drawn only if it is in force: a
// parameter that is seldom in force is not drawn more often for having many values. ok is false only if rejection found
// no configuration in 2^20 draws, which [NewSpace] makes unlikely.
func (s *Space) Draw(rng *rand.Rand) (c Config, ok bool) {
	if s.list != nil {
		return s.list.at(rng.IntN(s.list.n)), true
	}
	c = make(Config, len(s.Params))
	for i := range s.groups {
		if !s.groups[i].draw(s, c, rng) {
			return nil, false
		}
	}
	return c, true
}

// Text returns c for people and logs: "level=3 threads=2". Parameters that are not in force are left out.
func (s *Space) Text(c Config) string {
	var b strings.Builder
	for i, p := range s.Params {
		if !s.Active(c, i) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p.Name)
		b.WriteByte('=')
		b.WriteString(p.Text(c[i]))
	}
	return b.String()
}

// Values returns the value of each parameter that is in force by name; see [Param.Value].
func (s *Space) Values(c Config) map[string]any {
	m := make(map[string]any, len(c))
	for i, p := range s.Params {
		if s.Active(c, i) {
			m[p.Name] = p.Value(c[i])
		}
	}
	return m
}

// Parse returns the configuration of the given texts by parameter name; see
// [Param.Parse] for how a value may be written. It returns an error for an unknown name, a missing
// one, a value that the parameter does not have, one of a parameter that is not in force, and a
// configuration that is not admissible.
func (s *Space) Parse(texts map[string]string) (Config, error) {
	for name := range texts {
		if s.Index(name) < 0 {
			return nil, fmt.Errorf("no parameter %q", name)
		}
	}
	c := make(Config, len(s.Params))
	copy(c, s.rest)
	for i, p := range s.Params {
		t, ok := texts[p.Name]
		switch {
		case !ok && p.When == nil:
			return nil, fmt.Errorf("no value for parameter %q", p.Name)
		case !ok:
			continue
		}
		x, err := p.Parse(t)
		if err != nil {
			return nil, err
		}
		c[i] = x
	}
	for _, i := range s.order {
		if p := &s.Params[i]; p.When != nil {
			switch _, given := texts[p.Name]; {
			case given && !s.Active(c, i):
				return nil, fmt.Errorf("parameter %q is in force only when %s: leave it out", p.Name, p.When.Text)
			case !given && s.Active(c, i):
				return nil, fmt.Errorf("no value for parameter %q, which is in force when %s", p.Name, p.When.Text)
			}
		}
	}
	return c, s.Check(c)
}

// A Size is a number of configurations.
type Size struct {
	N     int64   // the exact number, or 0 if it is not known or above 2^63-1
	Log10 float64 // if N is 0: its logarithm, approximately; +Inf if continuous
}

// String returns "495", "about 10^23" or "infinite".
func (z Size) String() string {
	switch {
	case z.N > 0:
		return fmt.Sprint(z.N)
	case math.IsInf(z.Log10, 1):
		return "infinite"
	}
	return fmt.Sprintf("about 10^%.0f", z.Log10)
}

// log10 returns the logarithm of the number, exact or not.
func (z Size) log10() float64 {
	if z.N > 0 {
		return math.Log10(float64(z.N))
	}
	return z.Log10
}

// times returns the size of a product. It stays exact up to 2^63-1.
func (z Size) times(y Size) Size {
	if z.N > 0 && y.N > 0 && z.N <= math.MaxInt64/y.N {
		return Size{N: z.N * y.N}
	}
	return Size{Log10: z.log10() + y.log10()}
}
