package spec

import (
	"maps"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"
)

// A Comparison is the input of assay compare: benchmarks, each with commands that are compared with its first one.
//
// The fields may be set directly, then [Comparison.Check] must be called.
type Comparison struct {
	Benchmarks []Benchmark
	FailIf     string        // the gate, "slower > 3%", or ""
	Pairs      int           // most runs of each command; 0 means as many as it takes
	Budget     time.Duration // for all benchmarks together; 0 means none

	file   string
	places map[string]place
}

// A Benchmark is commands that do the same in different ways.
type Benchmark struct {
	Name     string // "" if there is one that has none
	Commands []Variant
}

// A Variant is one of the commands of a benchmark: a study without parameters, which defines how the command is run
// and measured.
type Variant struct {
	Name  string
	Study *Study
}

// comparedKeys returns the readers of the keys of study files that a level of a file of benchmarks has. A level
// replaces values of the level around it.
func comparedKeys(d *decoder, s *Study, at level) []field {
	return slices.DeleteFunc(readersOf(d, s, ""), func(f field) bool { return keyOf(f.key).Compared&at == 0 })
}

// LoadComparison reads a file of benchmarks; its format is in docs/gate.md. edit, which may be nil, changes the
// comparison before it is checked, as in [Parse]. The error is an [*Error] with every flaw that was found.
func LoadComparison(path string, edit func(*Comparison) error) (*Comparison, error) {
	data, err := readStudyFile(path)
	if err != nil {
		return nil, err
	}
	d, root := decode(path, data)
	if root == nil {
		return nil, newError(d.flaws)
	}
	c := &Comparison{file: path, places: d.places}
	c.read(d, root)
	if edit != nil {
		if err := edit(c); err != nil && len(d.flaws) == 0 {
			return nil, err
		}
	}
	if err := newError(append(d.flaws, c.check(len(d.flaws) > 0)...)); err != nil {
		return nil, err
	}
	return c, nil
}

// At is [Study.At] of a key of the file.
func (c *Comparison) At(path string) string { return (&Study{file: c.file, places: c.places}).At(path) }

// Check makes every check that needs the comparison as a whole. The error is an [*Error]
// with every flaw found.
func (c *Comparison) Check() error { return newError(c.check(false)) }

func (c *Comparison) check(incomplete bool) []Flaw {
	var flaws []Flaw
	for _, b := range c.Benchmarks {
		for i, v := range b.Commands {
			k := &checker{study: v.Study}
			if len(v.Study.Command) == 0 && !incomplete {
				k.add("command", "", "command "+v.Name, 0, "nothing to run")
			}
			var warnings []string
			k.templates(&warnings)
			if i == 0 { // the others measure the same
				k.metrics()
				k.goal()
			}
			k.values()
			flaws = append(flaws, k.flaws...)
		}
	}
	// A flaw in the head of the file repeats in every benchmark.
	return slices.CompactFunc(flaws, func(a, b Flaw) bool { return a == b })
}

// read reads the keys of a file of benchmarks.
func (c *Comparison) read(d *decoder, n *yaml.Node) {
	var base Study
	var commands, benchmarks *yaml.Node
	d.mapping(n, "the file", append(comparedKeys(d, &base, benchmarkLevel),
		field{"fail_if", func(n *yaml.Node) { c.FailIf = d.string("fail_if", n) }},
		field{"pairs", func(n *yaml.Node) { c.Pairs, _ = d.integer(n, "pairs", 1) }},
		field{"budget", func(n *yaml.Node) {
			var ok bool
			if c.Budget, ok = d.duration(n, "budget"); ok && c.Budget == 0 {
				d.fail(n, "budget: more than 0 is needed")
			}
		}},
		field{"commands", func(n *yaml.Node) { commands = n }},
		field{"benchmarks", func(n *yaml.Node) { benchmarks = n }},
	), nil)
	// The commands are read last: the order of keys means nothing.
	switch {
	case commands != nil && benchmarks != nil:
		d.fail(n, "commands and benchmarks: a file has one of them")
	case commands != nil:
		c.Benchmarks = []Benchmark{{Commands: readVariants(d, commands, "commands", base)}}
	case benchmarks != nil:
		d.pairs(benchmarks, "benchmarks", func(key, value *yaml.Node) {
			if flaw := nameFlaw(key.Value); flaw != "" {
				d.fail(key, "benchmark %q: %s", clip(key.Value), flaw)
				return
			}
			c.Benchmarks = append(c.Benchmarks, readBenchmark(d, key.Value, value, base))
		})
		if len(c.Benchmarks) == 0 && follow(benchmarks).Kind == yaml.MappingNode && len(d.flaws) == 0 {
			d.fail(benchmarks, "benchmarks: at least one is needed")
		}
	default:
		d.fail(n, "nothing to compare: commands is needed, or benchmarks with commands each")
	}
}

// apart reads something whose places are its own: paths of two commands are the same.
func apart(d *decoder, s *Study, read func()) {
	outer := d.places
	d.places = maps.Clone(outer)
	read()
	s.file, s.places, d.places = d.name, d.places, outer
}

func readBenchmark(d *decoder, name string, n *yaml.Node, base Study) Benchmark {
	b := Benchmark{Name: name}
	what := "benchmark " + clip(name)
	var commands *yaml.Node
	before := len(d.flaws)
	apart(d, &base, func() {
		d.mapping(n, what, append(comparedKeys(d, &base, benchmarkLevel),
			field{"commands", func(n *yaml.Node) { commands = n }}), nil)
		if commands != nil {
			b.Commands = readVariants(d, commands, what, base)
		} else if len(d.flaws) == before {
			d.fail(n, "%s: commands is needed", what)
		}
	})
	return b
}

// readVariants reads the commands of a benchmark: a name each, and a command as in a study
// file, or a mapping with the keys of how it is run.
func readVariants(d *decoder, n *yaml.Node, what string, base Study) []Variant {
	var list []Variant
	before := len(d.flaws)
	d.pairs(n, what, func(key, value *yaml.Node) {
		if flaw := nameFlaw(key.Value); flaw != "" {
			d.fail(key, "command %q: %s", clip(key.Value), flaw)
			return
		}
		s := base
		s.Version = Version
		apart(d, &s, func() {
			if follow(value).Kind == yaml.MappingNode {
				d.mapping(value, "command "+clip(key.Value), comparedKeys(d, &s, commandLevel), nil)
				if len(s.Command) == 0 && len(d.flaws) == before {
					d.fail(value, "command %s: the key command is needed", clip(key.Value))
				}
			} else {
				readCommand(d, value, &s)
			}
			finishStudy(d, value, &s)
		})
		list = append(list, Variant{key.Value, &s})
	})
	if len(list) < 2 && len(d.flaws) == before {
		d.fail(n, "%s: two commands or more are compared, not %d", what, len(list))
	}
	return list
}
