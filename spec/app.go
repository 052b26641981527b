package spec

import (
	"regexp"
	"strings"

	"github.com/assay-run/assay"
)

// appName matches the names that an application may have: the name is part of a subject of the queue.
var appName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// app checks a study of an application. How an application is run is written on the workers, and
// nothing that runs or opens something comes from anywhere else.
func (c *checker) app() {
	s := c.study
	switch {
	case !appName.MatchString(s.App):
		c.add("app", "", "", 0, "app: %q: the name of an application has letters, digits, _ and -", s.App)
	case s.App == reservedApp:
		c.add("app", "", "", 0, "app: %q is reserved for studies with a command", s.App)
	case s.Placement.On != Fleet:
		c.add("place.on", "", "", 0, "place: an application is run by the workers of a server: place: %s", Fleet)
	}
	var brought []string
	for _, k := range s.excluded(WithApp) {
		brought = append(brought, k.Path)
	}
	if len(brought) > 0 {
		c.add("app", "", "", 0, "%s: how application %s is run is written on the workers: leave it out here",
			strings.Join(brought, ", "), s.App)
	}
	for _, m := range s.Metrics {
		source, err := assay.ParseMetricSource(m.Name, m.Source)
		if err == nil && source.Kind.Argument() == assay.CommandArgument {
			c.add("metrics."+m.Name, "", "metric "+m.Name, 0, "it is a command, and application %s runs none but its own", s.App)
		}
	}
}
