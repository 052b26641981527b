package setup

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/spec"
)

// A link connects a parameter of a study with the setting of a study that ships.
type link struct {
	ours, theirs int // their indices
	from, to     quantity
	numbers      bool // both are numbers: amounts are compared, not texts
	// text returns the argument that a value makes, and rest is the setting's value where it makes none. If text is
	// nil, the values are compared as they are.
	text func(x float64) string
	rest float64
}

// links returns the parameters of a space that are settings of the study, each setting once. A parameter is the setting
// whose value it writes on a command line. The program's arguments decide, then the parameter's own name:
//   - an argument is a flag of the setting: -{opt} makes -O3, and {fast?-ffast-math} makes -ffast-math,
//   - an argument ends with the value of the setting: -Xmx{heap}, --threads {n}, shared_buffers={buffers}.
//
// In names a hyphen and an equals sign count as an underscore. The program may be nil; base is any configuration.
func (k known) links(space *assay.Space, program *spec.Program, base assay.Config) (all []link) {
	taken := make([]bool, len(k.space.Params))
	for i, p := range space.Params {
		if p.Kind == assay.Permutation {
			continue
		}
		l, ok := k.linkByArgument(space, i, program, base)
		if !ok {
			l, ok = k.linkByName(p, i, p.Name)
		}
		if ok && !taken[l.theirs] {
			taken[l.theirs] = true
			all = append(all, l)
		}
	}
	return all
}

// begin returns the default configuration of a problem and its links. A parameter whose default the study that ships
// has not tried has none.
func (k known) begin(p *Problem) (assay.Config, []link) {
	links := k.links(p.Space, p.Program, k.start(p.Definition, p.Space, nil))
	c := k.start(p.Definition, p.Space, links)
	return c, slices.DeleteFunc(links, func(l link) bool {
		_, ok := l.coordinate(c[l.ours])
		return !ok
	})
}

// linkByArgument returns the link of parameter i by an argument that it makes.
func (k known) linkByArgument(space *assay.Space, i int, program *spec.Program, base assay.Config) (l link, ok bool) {
	if program == nil {
		return l, false
	}
	p := space.Params[i]
	for _, a := range program.Arguments(i) {
		with := func(x float64) assay.Config {
			c := slices.Clone(base)
			c[i] = x
			return space.Rested(c)
		}
		text := func(x float64) string { return a.Text(with(x)) }
		for _, x := range valuesOf(p) {
			c := with(x)
			flag := a.Text(c)
			for j, q := range k.space.Params {
				if !p.Numeric() && hasFlag(q, flag) {
					return link{ours: i, theirs: j, from: newQuantity(p), to: newQuantity(q), rest: k.defaults[j], text: text}, true
				}
			}
			if name := a.Name(c); name != "" {
				if l, ok := k.linkByName(p, i, name); ok {
					return l, true
				}
			}
		}
	}
	return l, false
}

// hasFlag reports whether an argument is a level of a setting that is a whole flag, such as -O3.
func hasFlag(setting assay.Param, text string) bool {
	return len(text) > 1 && text[0] == '-' && (text[1] < '0' || text[1] > '9') && slices.Contains(setting.Levels, text)
}

var nameMarks = strings.NewReplacer("-", "_", "=", "_")

// linkByName returns the link of parameter i with the setting of a name, if both have numbers or both have texts.
func (k known) linkByName(p assay.Param, i int, name string) (l link, ok bool) {
	name = nameMarks.Replace(name)
	j := slices.IndexFunc(k.space.Params, func(q assay.Param) bool { return nameMarks.Replace(q.Name) == name })
	if j < 0 || k.space.Params[j].Kind == assay.Permutation {
		return l, false
	}
	q := k.space.Params[j]
	l = link{ours: i, theirs: j, from: newQuantity(p), to: newQuantity(q)}
	l.numbers = l.from.numbers && l.to.numbers
	if l.numbers && (l.from.unit == 0) != (l.to.unit == 0) { // one of them has no unit
		if l.from.suffixed || l.to.suffixed {
			return l, false
		}
		l.from.unit, l.to.unit = 0, 0
	}
	return l, l.numbers || !p.Numeric() && !q.Numeric()
}

// given returns the defaults of the settings, or the values that arguments of the program give them for all of its
// configurations: -O3, --threads=4.
func (k known) given(program *spec.Program) assay.Config {
	c := slices.Clone(k.defaults)
	for _, f := range program.Fixed() {
		for j, q := range k.space.Params {
			if hasFlag(q, f.Text) {
				c[j], _ = q.Parse(f.Text)
			}
		}
		p := assay.Param{Kind: assay.Ordinal, Levels: []string{f.Value}}
		if l, ok := k.linkByName(p, 0, f.Name); ok {
			if y, ok := l.coordinate(p.At(0)); ok {
				c[l.theirs] = y
			}
		}
	}
	return c
}

// coordinate returns the coordinate in the study that ships of a coordinate in the other study. A number beyond the
// range becomes its nearest one. ok is false for a text that the study that ships has not tried.
func (l link) coordinate(x float64) (y float64, ok bool) {
	from, to := l.from, l.to
	if !l.numbers {
		text := from.Text(x)
		if l.text != nil {
			if text = l.text(x); text == "" {
				return l.rest, true
			}
		}
		y, err := to.Parse(text)
		return y, err == nil
	}
	a := from.amount(x)
	if to.Numeric() {
		return to.Snap(min(max(a/cmp.Or(to.unit, 1), to.Lo), to.Hi)), true
	}
	least := math.Inf(1)
	for i := range to.Count() {
		b := to.amount(to.At(i))
		far := math.Abs(a - b)
		if a > 0 && b > 0 {
			far = math.Abs(math.Log(a / b))
		}
		if far < least {
			y, least = to.At(i), far
		}
	}
	return y, true
}

// back returns the coordinate of a value of the setting. ok is false if the parameter does not have it.
func (l link) back(y float64) (x float64, ok bool) {
	if l.text == nil {
		return link{ours: l.theirs, theirs: l.ours, from: l.to, to: l.from, numbers: l.numbers}.coordinate(y)
	}
	for _, x := range valuesOf(l.from.Param) {
		if z, ok := l.coordinate(x); ok && z == y {
			return x, true
		}
	}
	return 0, false
}

// A quantity is a parameter whose values may be numbers with a unit.
type quantity struct {
	assay.Param
	numbers  bool    // all values are numbers
	suffixed bool    // the texts of levels have units of their own, such as 8MB
	unit     float64 // in base units, such as 8192 for 8kB; 0 without one
}

func newQuantity(p assay.Param) quantity {
	q := quantity{Param: p, numbers: true}
	if x, ok := assay.Number(p.Unit); ok {
		q.unit = x
	} else if x, ok := assay.Number("1" + p.Unit); ok && p.Unit != "" {
		q.unit = x
	}
	for l, text := range p.Levels {
		if _, ok := p.LevelNumber(l); !ok {
			q.numbers = false
		}
		_, err := strconv.ParseFloat(text, 64)
		q.suffixed = q.suffixed || err != nil
	}
	if q.suffixed {
		q.unit = 1
	}
	return q
}

// amount returns the number of a coordinate in base units.
func (q quantity) amount(x float64) float64 {
	a, _ := q.NumberAt(x)
	return a * cmp.Or(q.unit, 1)
}

// start returns the default configuration of a study. A parameter without a default has the default of the study that
// ships, or else its first value.
func (k known) start(def *spec.Study, space *assay.Space, links []link) assay.Config {
	c := make(assay.Config, len(space.Params))
	for i, p := range space.Params {
		if c[i] = p.Lo; !p.Numeric() {
			c[i] = p.At(0)
		}
	}
	for _, l := range links {
		if x, ok := l.back(k.defaults[l.theirs]); ok {
			c[l.ours] = x
		}
	}
	for i, p := range def.Params {
		if p.Default == nil || i >= len(c) {
			continue
		}
		if x, err := space.Params[i].Parse(*p.Default); err == nil {
			c[i] = x
		}
	}
	return c
}
