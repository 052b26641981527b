package arch

import (
	"cmp"
	"fmt"
	"html"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// layerNames are the subjects of the layers, from the lowest on.
var layerNames = []string{
	"words, contracts", "mathematics", "decisions", "the outside world", "the loop", "what is known", "a study is made",
	"many studies", "at a distance", "a server", "the command",
}

// A box is a package in the picture.
type box struct {
	rel     string
	imports []string // of this module
	users   int      // packages that import it
	x, y, w float64
	row     int
}

func (b *box) name() string {
	if b.rel == "" {
		return "assay"
	}
	return strings.TrimPrefix(b.rel, "/")
}

// label is the name in the picture.
func (b *box) label() string { return strings.TrimPrefix(b.name(), "internal/") }

// title is the text that a browser shows for the box that the pointer is on.
func (b *box) title() string {
	var names []string
	for _, i := range b.imports {
		names = append(names, (&box{rel: i}).name())
	}
	return fmt.Sprintf("%s imports %s; %d import it", b.name(), cmp.Or(strings.Join(names, ", "), "none of these"),
		b.users)
}

// graph returns the packages by their names, as their sources import each other on Linux.
func graph(t *testing.T) map[string]*box {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"/...")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*box{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		b := &box{rel: strings.TrimPrefix(f[0], module)}
		if strings.HasPrefix(b.rel, "/examples/") {
			continue
		}
		for _, imp := range f[1:] {
			if dep, ours := strings.CutPrefix(imp, module); ours {
				b.imports = append(b.imports, dep)
			}
		}
		all[b.rel] = b
	}
	for _, b := range all {
		for _, dep := range b.imports {
			all[dep].users++
		}
	}
	return all
}

// rows returns the packages in layers, and those beside them at the height of the first layer above all that they
// import.
func rows(all map[string]*box) (in, aside [][]*box) {
	in, aside = make([][]*box, len(layers)), make([][]*box, len(layers))
	for i, names := range layers {
		for _, rel := range names {
			if b := all[rel]; b != nil {
				b.row = i
				in[i] = append(in[i], b)
			}
		}
	}
	var height func(b *box) int
	height = func(b *box) int {
		if slices.Contains(in[b.row], b) {
			return b.row
		}
		h := 0
		for _, dep := range b.imports {
			if d := height(all[dep]); d >= h {
				h = d + 1
				if !slices.Contains(in[all[dep].row], all[dep]) {
					h = max(d, h-1) // beside one another they may stand
				}
			}
		}
		return min(h, len(layers)-1)
	}
	for _, b := range all {
		if !slices.Contains(in[b.row], b) {
			h := height(b)
			aside[h] = append(aside[h], b)
		}
	}
	for _, r := range aside {
		slices.SortFunc(r, func(a, b *box) int { return cmp.Compare(a.rel, b.rel) })
	}
	return in, aside
}

// direct returns the imports of a package in a layer that are of layers, without those that another one of them has
// too.
func direct(all map[string]*box, in [][]*box, b *box) (deps []*box) {
	layered := func(rel string) bool { return slices.Contains(in[all[rel].row], all[rel]) }
	reach := map[string]bool{}
	var walk func(rel string)
	walk = func(rel string) {
		for _, dep := range all[rel].imports {
			if !reach[dep] {
				reach[dep] = true
				walk(dep)
			}
		}
	}
	for _, dep := range b.imports {
		if layered(dep) {
			walk(dep)
		}
	}
	for _, dep := range b.imports {
		if layered(dep) && !reach[dep] {
			deps = append(deps, all[dep])
		}
	}
	return deps
}

const (
	gutter, middle, width = 165.0, 720.0, 1180.0 // where the layers begin and end, and where the picture does
	boxHeight, lineHeight = 24.0, 32.0
)

// place gives boxes their places in lines from left to right, at most so far apart, and returns how many lines
// they take.
func place(boxes []*box, left, right, top, most float64) (lines int) {
	for len(boxes) > 0 {
		n, total := 0, 0.0
		for n < len(boxes) {
			boxes[n].w = 16 + 6.6*float64(len(boxes[n].label()))
			if n > 0 && total+boxes[n].w+10*float64(n) > right-left {
				break
			}
			total += boxes[n].w
			n++
		}
		gap := min(most, (right-left-total)/float64(max(1, n-1)))
		x := left + (right-left-total-gap*float64(n-1))/2
		for _, b := range boxes[:n] {
			b.x, b.y = x, top+float64(lines)*lineHeight
			x += b.w + gap
		}
		boxes, lines = boxes[n:], lines+1
	}
	return lines
}

// settle orders the packages of each layer so that few arrows cross: each stands near the middle of the packages that
// it imports and that import it.
func settle(all map[string]*box, in [][]*box) {
	for range 8 {
		for i := range in {
			place(in[i], gutter, middle, 0, 60)
		}
		at := func(b *box) float64 { return b.x + b.w/2 }
		want := map[*box]float64{}
		count := map[*box]float64{}
		for _, r := range in {
			for _, b := range r {
				for _, dep := range direct(all, in, b) {
					want[b] += at(dep)
					want[dep] += at(b)
					count[b]++
					count[dep]++
				}
			}
		}
		for i := range in {
			slices.SortStableFunc(in[i], func(a, b *box) int {
				return cmp.Compare(want[a]/max(1, count[a]), want[b]/max(1, count[b]))
			})
		}
	}
}

// The picture of the architecture shows the imports: layers from the command down to the contracts, with an arrow
// for each import that does not follow from others, and the packages beside them.
func TestDrawn(t *testing.T) {
	testbed.Outside(t)
	if len(layerNames) != len(layers) {
		t.Fatalf("%d names of %d layers", len(layerNames), len(layers))
	}
	all := graph(t)
	in, aside := rows(all)
	settle(all, in)
	var shapes, arrows strings.Builder
	y := 56.0
	for i := len(in) - 1; i >= 0; i-- {
		n := max(1, place(in[i], gutter, middle, y+12, 60), place(aside[i], middle+40, width-16, y+12, 10))
		high := float64(n)*lineHeight + 16
		class := map[bool]string{true: "pure", false: "layer"}[i <= pureLayers]
		fmt.Fprintf(&shapes, `<rect class="%s" x="8" y="%.0f" width="%.0f" height="%.0f" rx="4"/>`+"\n", class, y, middle+8,
			high)
		fmt.Fprintf(&shapes, `<text class="number" x="20" y="%.0f">%d</text>`+
			`<text class="about" x="42" y="%.0f">%s</text>`+"\n", y+28, i, y+28, html.EscapeString(layerNames[i]))
		y += high + 30
	}
	for _, r := range in {
		for _, b := range r {
			for _, dep := range direct(all, in, b) {
				x1, y1, x2, y2 := b.x+b.w/2, b.y+boxHeight, dep.x+dep.w/2, dep.y
				bend := (y2 - y1) / 2
				fmt.Fprintf(&arrows, `<path class="import" d="M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f"/>`+"\n",
					x1, y1, x1, y1+bend, x2, y2-bend, x2, y2)
			}
		}
	}
	for _, column := range [][][]*box{in, aside} {
		for _, r := range column {
			for _, b := range r {
				class := "room"
				if !slices.Contains(in[b.row], b) {
					class = "aside"
				}
				fmt.Fprintf(&arrows, `<g class="%s"><title>%s</title><rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="3"/>`+
					`<text x="%.0f" y="%.0f">%s</text></g>`+"\n", class, html.EscapeString(b.title()), b.x, b.y, b.w, boxHeight,
					b.x+b.w/2, b.y+16, html.EscapeString(b.label()))
			}
		}
	}
	const style = `.layer{fill:#f1f4f8}.pure{fill:#eaf3ea}` +
		`.import{fill:none;stroke:#5a6b80;stroke-width:1;opacity:.55;marker-end:url(#tip)}` +
		`.room rect{fill:#fff;stroke:#34506e}.aside rect{fill:#fbf7ee;stroke:#a58b52}` +
		`.room text,.aside text{text-anchor:middle;font-family:monospace;font-size:11px}` +
		`text{fill:#222}.number{font-weight:bold}.about{fill:#555}`
	svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" `+
		`role="img" font-family="sans-serif" font-size="12">
<title>The packages of assay in layers, and which imports which</title>
<style>%s</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">`+
		`<path d="M0 0L8 4L0 8z" fill="#5a6b80"/></marker></defs>
<rect width="100%%" height="100%%" fill="#fff"/>
<text x="20" y="26" font-size="15" font-weight="bold">Imports point downwards</text>
<text x="20" y="44" class="about">An arrow is an import that does not follow from others. `+
		`Green layers are pure: no clock, file or goroutine.</text>
<text x="%.0f" y="44" class="about">Beside them, mostly in internal/, above what they import</text>
`, width, y, width, y, style, middle+40) + shapes.String() + arrows.String() + "</svg>\n"
	testbed.Current(t, "../../docs/figures/architecture.svg", svg, "go test ./internal/arch -run Drawn")
}
