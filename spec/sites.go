package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/expr"
	"github.com/assay-run/assay/workflow"
	"github.com/assay-run/assay/workflow/site"
	"go.yaml.in/yaml/v4"
)

// Sites is what a file of sites says: the sites of a network and their links, and
// where the input of a workflow is. The format is described in
// docs/format/sites.md. It stands here, and not in workflow/site, because it is
// YAML and uses the decoder of study files, with its flaws and places.
type Sites struct {
	File  string
	Sites []site.Site
	Links []site.Link
	Data  []SiteData
	// Profiles are files of assay profile --json, by site, as paths from where the
	// command runs; "" is none.
	Profiles []string

	profileAt      []place
	siteAt, linkAt []place // of each site and link
	data           place
}

// A SiteData says which input files a site holds.
type SiteData struct {
	Site    int
	Pattern string // as in path.Match, for the name or its last element; "*" is every name
}

// Holds returns the index of the site that holds the input of that name: the first
// in the file with a pattern that matches; -1 if there is none.
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

// Located gives an error of planning over the sites its place in the file: that of
// the site or link that is wrong, that of the data for an input that is nowhere,
// and the file alone if no site can run a task. Other errors are returned as they
// are.
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

// ProfileError gives what is wrong with the profile of a site its place in the file.
func (s *Sites) ProfileError(i int, err error) error {
	return s.errorAt(s.profileAt[i], fmt.Sprintf("site %s: profile: %v", s.Sites[i].Name, err))
}

func (s *Sites) errorAt(p place, message string) error {
	return newError([]Flaw{{File: s.File, Line: p.line, Column: p.column, Message: message}})
}

// LoadSites reads the file of sites at a path; see [ParseSites].
func LoadSites(path string) (*Sites, error) {
	data, err := readFile(path)
	if err != nil {
		message := err.Error()
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			message = pe.Err.Error()
		}
		return nil, &Error{Flaws: []Flaw{{File: path, Message: message}}, cause: err}
	}
	return ParseSites(path, data)
}

// ParseSites reads the content of a file of sites; name is its path, for
// messages. The error is an [*Error] with every flaw that was found. Whether the
// links connect the sites is not checked.
func ParseSites(name string, data []byte) (*Sites, error) {
	d := &decoder{name: name, places: map[string]place{}}
	s := &Sites{File: name}
	if root := d.document(data); root != nil {
		d.lines = strings.Split(string(data), "\n")
		d.sites(root, s)
	}
	if err := newError(d.flaws); err != nil {
		return nil, err
	}
	return s, nil
}

// sites reads the root of a file of sites. Links and data name sites, and are
// read after them whatever the order in the file.
func (d *decoder) sites(root *yaml.Node, s *Sites) {
	var sites, links, data *yaml.Node
	d.mapping(root, "the file of sites", []field{
		{"sites", func(n *yaml.Node) { sites = n }},
		{"links", func(n *yaml.Node) { links = n }},
		{"data", func(n *yaml.Node) { data = n }},
	}, nil)
	if sites == nil {
		if len(d.flaws) == 0 {
			d.fail(root, "sites (name: what it has) is needed")
		}
		return
	}
	d.pairs(sites, "sites", func(key, value *yaml.Node) {
		s.Profiles, s.profileAt = append(s.Profiles, ""), append(s.profileAt, place{})
		s.Sites = append(s.Sites, d.site(key, value, s))
		s.siteAt = append(s.siteAt, place{line: key.Line, column: key.Column})
	})
	if len(s.Sites) == 0 && len(d.flaws) == 0 {
		d.fail(sites, "sites: none is given")
	}
	if links != nil {
		for _, n := range d.list(links, "links") {
			if l, ok := d.link(n, s); ok {
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
	d.siteData(data, s)
}

// site reads one site. One that says nothing has one slot of speed 1 and storage
// without limit.
func (d *decoder) site(key, n *yaml.Node, all *Sites) site.Site {
	s := site.Site{Name: key.Value, Slots: 1, Speed: 1, Storage: math.Inf(1)}
	what := "site " + clip(key.Value)
	if key.Value == "" || len(key.Value) > 100 || strings.ContainsFunc(key.Value,
		func(r rune) bool { return r < ' ' }) {
		d.fail(key, "%s: a name has 1 to 100 characters", what)
	}
	d.mapping(n, what, []field{
		{"slots", func(n *yaml.Node) {
			if x, ok := d.integer(n, what+": slots", 0); ok {
				s.Slots = x
			}
		}},
		{"speed", func(n *yaml.Node) {
			if x, ok := d.number(n, what+": speed"); ok {
				if s.Speed = x; x <= 0 {
					d.fail(n, "%s: speed: a number > 0 is needed, not %s", what, clip(follow(n).Value))
				}
			}
		}},
		{"cores", func(n *yaml.Node) {
			if x, ok := d.number(n, what+": cores"); ok {
				if s.Cores = x; x <= 0 {
					d.fail(n, "%s: cores: a number > 0 is needed, not %s", what, clip(follow(n).Value))
				}
			}
		}},
		{"memory", func(n *yaml.Node) { d.amount(n, what+": memory", "", &s.Memory) }},
		{"storage", func(n *yaml.Node) {
			if follow(n).Value == "none" {
				s.Storage = 0
				return
			}
			d.amount(n, what+": storage", "", &s.Storage)
		}},
		{"disk", func(n *yaml.Node) { d.amount(n, what+": disk", "/s", &s.Disk) }},
		{"profile", func(n *yaml.Node) {
			name, _ := d.text(n, what+": profile")
			if name != "" && !filepath.IsAbs(name) {
				name = filepath.Join(filepath.Dir(all.File), name)
			}
			last := len(all.Profiles) - 1
			all.Profiles[last], all.profileAt[last] = name, place{line: n.Line, column: n.Column}
		}},
		{"delay", func(n *yaml.Node) {
			if x, ok := d.duration(n, what+": delay"); ok {
				s.Delay = x.Seconds()
			}
		}},
	}, nil)
	return s
}

// link reads one link. ok is false if it has a flaw.
func (d *decoder) link(n *yaml.Node, s *Sites) (l site.Link, ok bool) {
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
			l.A, l.B = d.siteName(ends[0], s), d.siteName(ends[1], s)
		}},
		{"bandwidth", func(n *yaml.Node) {
			d.amount(n, "bandwidth", "/s", &l.Bandwidth)
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

// siteName reads the name of a site that the file gives.
func (d *decoder) siteName(n *yaml.Node, s *Sites) int {
	name, ok := d.text(n, "site")
	if !ok {
		return -1
	}
	i := slices.IndexFunc(s.Sites, func(x site.Site) bool { return x.Name == name })
	if i < 0 {
		d.unknownSite(n, name, s)
	}
	return i
}

func (d *decoder) unknownSite(n *yaml.Node, name string, s *Sites) {
	var names []string
	for _, x := range s.Sites {
		names = append(names, x.Name)
	}
	hint := ""
	if near := expr.Nearest(name, names); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	d.fail(n, "no site %q in sites%s", clip(name), hint)
}

// siteData reads data: SITE, or SITE: PATTERN or [PATTERN, ...] of each.
func (d *decoder) siteData(n *yaml.Node, s *Sites) {
	if follow(n).Kind == yaml.ScalarNode {
		if i := d.siteName(n, s); i >= 0 {
			s.Data = append(s.Data, SiteData{i, "*"})
		}
		return
	}
	d.pairs(n, "data", func(key, value *yaml.Node) {
		i := slices.IndexFunc(s.Sites, func(x site.Site) bool { return x.Name == key.Value })
		if i < 0 {
			d.unknownSite(key, key.Value, s)
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

// amount reads a number of bytes into x, with "/s" as per a rate.
func (d *decoder) amount(n *yaml.Node, what, per string, x *float64) {
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

// byteUnits are the units of an amount of data.
var byteUnits = []struct {
	name string
	size float64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"PB", 1e15},
	{"kbit", 1e3 / 8},
	{"Mbit", 1e6 / 8},
	{"Gbit", 1e9 / 8},
	{"B", 1},
}

// ParseAmount reads an amount of data >= 0: a number with a decimal or binary
// unit (20GB, 512MiB, 100Mbit). per is "", or what follows the unit, "/s". A bare
// number is an error, for nobody knows its unit, except 0.
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
	for _, u := range byteUnits {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			x, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
			if err != nil || !(x >= 0) || x*u.size > 1e30 {
				return 0, bad
			}
			return x * u.size, nil
		}
	}
	return 0, bad
}
