package spec

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/expr"
	"github.com/assay-run/assay/internal/workflow/site"
	"github.com/assay-run/assay/workflow"
	"go.yaml.in/yaml/v4"
)

// Sites is the content of a file of sites: the sites of a network and their links, and the places of the input of a
// workflow. The format is described in docs/format/sites.md. It stands here, and not in internal/workflow/site, because
// it is YAML and uses the decoder of study files, with its flaws and places.
type Sites struct {
	File  string
	Sites []site.Site
	Links []site.Link
	Data  []SiteData
	// Profiles are files of assay profile --json, by site, as paths from the directory of the command; "" means no
	// profile.
	Profiles []string

	profileAt      []place
	siteAt, linkAt []place // of each site and link
	data           place
}

// A SiteData names the input files that a site holds.
type SiteData struct {
	Site    int
	Pattern string // as in path.Match, for the name or its last element; "*" is every name
}

// Holds returns the index of the site that holds the input of that name: the first in the file with a pattern that
// matches; -1 if no pattern matches.
func (s *Sites) Holds(name string) int {
	for _, d := range s.Data {
		if d.Pattern == "*" {
			return d.Site
		}
		for _, n := range []string{name, path.Base(name)} {
			if ok, _ := path.Match(d.Pattern, n); ok {
				return d.Site
			}
		}
	}
	return -1
}

// Network returns the network of the sites and links. The error is an [*Error] with
// the place of the site or link that does not fit.
func (s *Sites) Network() (*site.Network, error) {
	n, err := site.NewNetwork(s.Sites, s.Links)
	return n, s.Located(err)
}

// Located gives an error of planning over the sites its place in the file: the wrong site or link, the data for an
// input that no site holds, and the file alone if no site can run a task. Other errors are returned unchanged.
func (s *Sites) Located(err error) error {
	if e, ok := errors.AsType[*site.NetworkError](err); ok {
		switch {
		case e.Site >= 0:
			return s.errorAt(s.siteAt[e.Site], e.Reason)
		case e.Link >= 0:
			return s.errorAt(s.linkAt[e.Link], e.Reason)
		}
		return s.errorAt(place{}, e.Reason)
	}
	if e, ok := errors.AsType[*site.MissingInputError](err); ok {
		return s.errorAt(s.data, fmt.Sprintf("no site has the input %q: no pattern matches it", e.Input))
	}
	if e, ok := errors.AsType[*workflow.InfeasibleError](err); ok {
		return s.errorAt(place{}, e.Why)
	}
	return err
}

// ProfileError gives an error in the profile of a site its place in the file.
func (s *Sites) ProfileError(i int, err error) error {
	return s.errorAt(s.profileAt[i], fmt.Sprintf("site %s: profile: %v", s.Sites[i].Name, err))
}

func (s *Sites) errorAt(p place, message string) error {
	return newError([]Flaw{{File: s.File, Line: p.line, Column: p.column, Message: message}})
}

// LoadSites reads the file of sites at a path; see [ParseSites].
func LoadSites(path string) (*Sites, error) {
	data, err := readStudyFile(path)
	if err != nil {
		return nil, err
	}
	return ParseSites(path, data)
}

// ParseSites reads the content of a file of sites; name is its path, for
// messages. The error is an [*Error] with every flaw that was found. Whether the
// links connect the sites is not checked.
func ParseSites(name string, data []byte) (*Sites, error) {
	d, root := decode(name, data)
	s := &Sites{File: name}
	if root != nil {
		s.read(d, root)
	}
	if err := newError(d.flaws); err != nil {
		return nil, err
	}
	return s, nil
}

// read reads the root of a file of sites. Links and data name sites, and are read after them in any order of the
// file.
func (s *Sites) read(d *decoder, root *yaml.Node) {
	var sites, links, data *yaml.Node
	d.mapping(root, "the file of sites", []field{
		{"sites", func(n *yaml.Node) { sites = n }},
		{"links", func(n *yaml.Node) { links = n }},
		{"data", func(n *yaml.Node) { data = n }},
	}, nil)
	if sites == nil {
		if len(d.flaws) == 0 {
			d.fail(root, "sites (name: {slots: N, ...}) is needed")
		}
		return
	}
	d.pairs(sites, "sites", func(key, value *yaml.Node) {
		s.Profiles, s.profileAt = append(s.Profiles, ""), append(s.profileAt, place{})
		s.Sites = append(s.Sites, s.readSite(d, key, value))
		s.siteAt = append(s.siteAt, place{line: key.Line, column: key.Column})
	})
	if len(s.Sites) == 0 && len(d.flaws) == 0 {
		d.fail(sites, "sites: none is given")
	}
	if links != nil {
		for _, n := range d.list(links, "links") {
			if l, ok := s.readLink(d, n); ok {
				s.Links = append(s.Links, l)
				s.linkAt = append(s.linkAt, place{line: n.Line, column: n.Column})
			}
		}
	}
	if data == nil {
		d.fail(root, "data is needed: the site that holds the input of the workflow")
		return
	}
	s.data = place{line: data.Line, column: data.Column}
	s.readData(d, data)
}

// readSite reads one site. By default it has one slot of speed 1 and storage without limit.
func (s *Sites) readSite(d *decoder, key, n *yaml.Node) site.Site {
	one := site.Site{Name: key.Value, Slots: 1, Speed: 1, Storage: math.Inf(1)}
	what := "site " + clip(key.Value)
	if key.Value == "" || len(key.Value) > 100 || strings.ContainsFunc(key.Value,
		func(r rune) bool { return r < ' ' }) {
		d.fail(key, "%s: a name has 1 to 100 characters", what)
	}
	positive := func(key string, to *float64) field {
		return field{key, func(n *yaml.Node) {
			if x, ok := d.number(n, what+": "+key); ok {
				if *to = x; x <= 0 {
					d.fail(n, "%s: %s: a number > 0 is needed, not %s", what, key, clip(follow(n).Value))
				}
			}
		}}
	}
	d.mapping(n, what, []field{
		{"slots", func(n *yaml.Node) {
			if x, ok := d.integer(n, what+": slots", 0); ok {
				one.Slots = x
			}
		}},
		positive("speed", &one.Speed), positive("cores", &one.Cores),
		{"memory", func(n *yaml.Node) { readAmount(d, n, what+": memory", "", &one.Memory) }},
		{"storage", func(n *yaml.Node) {
			if follow(n).Value == "none" {
				one.Storage = 0
				return
			}
			readAmount(d, n, what+": storage", "", &one.Storage)
		}},
		{"disk", func(n *yaml.Node) { readAmount(d, n, what+": disk", "/s", &one.Disk) }},
		{"profile", func(n *yaml.Node) {
			name, _ := d.text(n, what+": profile")
			last := len(s.Profiles) - 1
			s.Profiles[last], s.profileAt[last] = besides(s.File, name), place{line: n.Line, column: n.Column}
		}},
		{"delay", func(n *yaml.Node) {
			if x, ok := d.duration(n, what+": delay"); ok {
				one.Delay = x.Seconds()
			}
		}},
	}, nil)
	return one
}

// readLink reads one link. ok is false if it has a flaw.
func (s *Sites) readLink(d *decoder, n *yaml.Node) (l site.Link, ok bool) {
	l = site.Link{A: -1, B: -1}
	before := len(d.flaws)
	d.mapping(n, "link", []field{
		{"between", func(n *yaml.Node) {
			ends := d.list(n, "between")
			if len(ends) != 2 {
				if follow(n).Kind == yaml.SequenceNode {
					d.fail(n, "between: two sites are needed, not %d", len(ends))
				}
				return
			}
			l.A, l.B = s.readName(d, ends[0]), s.readName(d, ends[1])
		}},
		{"bandwidth", func(n *yaml.Node) {
			readAmount(d, n, "bandwidth", "/s", &l.Bandwidth)
			if l.Bandwidth == 0 && len(d.flaws) == before {
				d.fail(n, "bandwidth: more than 0 is needed")
			}
		}},
		{"latency", func(n *yaml.Node) {
			if x, ok := d.duration(n, "latency"); ok {
				l.Latency = x.Seconds()
			}
		}},
	}, nil)
	if len(d.flaws) == before {
		switch {
		case l.A < 0:
			d.fail(n, "link: between: [SITE, SITE] is needed")
		case l.A == l.B:
			d.fail(n, "link: from site %s to itself", s.Sites[l.A].Name)
		case l.Bandwidth == 0:
			d.fail(n, "link: bandwidth is needed")
		}
	}
	return l, len(d.flaws) == before
}

// readName reads the name of a site that the file gives, and returns its index or -1.
func (s *Sites) readName(d *decoder, n *yaml.Node) int {
	name, ok := d.text(n, "site")
	if !ok {
		return -1
	}
	var names []string
	for i, x := range s.Sites {
		if x.Name == name {
			return i
		}
		names = append(names, x.Name)
	}
	hint := ""
	if near := expr.Nearest(name, names); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	d.fail(n, "no site %q in sites%s", clip(name), hint)
	return -1
}

// readData reads data: SITE, or SITE: PATTERN or [PATTERN, ...] of each.
func (s *Sites) readData(d *decoder, n *yaml.Node) {
	if follow(n).Kind == yaml.ScalarNode {
		if i := s.readName(d, n); i >= 0 {
			s.Data = append(s.Data, SiteData{i, "*"})
		}
		return
	}
	d.pairs(n, "data", func(key, value *yaml.Node) {
		i := s.readName(d, key)
		if i < 0 {
			return
		}
		elements := []*yaml.Node{value}
		if follow(value).Kind == yaml.SequenceNode {
			elements = d.list(value, "data")
		}
		for _, e := range elements {
			t, ok := d.text(e, "data of "+clip(key.Value))
			if !ok {
				continue
			}
			if _, err := path.Match(t, ""); err != nil {
				d.fail(e, "data of %s: %q is not a pattern such as *.fits", clip(key.Value), clip(t))
			}
			s.Data = append(s.Data, SiteData{i, t})
		}
	})
}

// readAmount reads a number of bytes into x, with "/s" as per a rate.
func readAmount(d *decoder, n *yaml.Node, what, per string, x *float64) {
	t, ok := d.text(n, what)
	if !ok {
		return
	}
	v, err := ParseAmount(t, per)
	if err != nil {
		d.fail(n, "%s: %v", what, err)
		return
	}
	*x = v
}

// bitUnits are units of data that only links have.
var bitUnits = map[string]float64{"kbit": 1e3 / 8, "Mbit": 1e6 / 8, "Gbit": 1e9 / 8}

// ParseAmount reads an amount of data >= 0: a number with a decimal or binary unit (20GB, 512MiB, 100Mbit). per is
// "", or the suffix of the unit, "/s". A bare number has no unit and is an error, except 0.
func ParseAmount(text, per string) (float64, error) {
	s := strings.TrimSpace(text)
	if s == "0" {
		return 0, nil
	}
	bad := fmt.Errorf("%q is not an amount such as 20GB%s", clip(text), per)
	s, ok := strings.CutSuffix(s, per)
	if !ok {
		return 0, bad
	}
	number, size := workflow.CutBytes(s)
	for unit, bits := range bitUnits {
		if n, ok := strings.CutSuffix(s, unit); ok {
			number, size = n, bits
		}
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || size == 0 || !(x >= 0) || x*size > 1e30 {
		return 0, bad
	}
	return x * size, nil
}
