package exchange

import (
	"context"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Ranks of flags of the virtual machine.
const (
	rankErgonomic = iota // it chooses the value by the machine itself
	rankProduct
	rankExpert // experimental, diagnostic
)

// askJVM asks java for its flags and their ranges.
func askJVM(ctx context.Context) (*Catalogue, error) {
	version, err := output(ctx, "java", "--version")
	if err != nil {
		return nil, err
	}
	values, err := output(ctx, "java", "-XX:+PrintFlagsFinal", "-version")
	if err != nil {
		return nil, err
	}
	ranges, err := output(ctx, "java", "-XX:+PrintFlagsRanges", "-version")
	if err != nil {
		return nil, err
	}
	return &Catalogue{
		Program: "jvm", Version: firstLine(version), Settings: readJVM(values, ranges),
		Keys: func(all []Named) string {
			var flags []string
			for _, s := range all {
				if s.Kind == Choice {
					flags = append(flags, "{"+s.Param+"}")
				} else {
					flags = append(flags, "-XX:"+s.Name+"={"+s.Param+"}")
				}
			}
			return "env: {JDK_JAVA_OPTIONS: " + quote(strings.Join(flags, " ")) + "}  # java reads it by itself\n" +
				"# command: [java, -jar, app.jar]\n"
		},
	}, nil
}

var (
	jvmValue = regexp.MustCompile(`^\s*(\w+)\s+(\w+)\s+=\s*(\S*)\s+\{([^}]*)\}\s*\{([^}]*)\}`)
	jvmRange = regexp.MustCompile(`^\s*\w+\s+(\w+)\s+\[\s*(\S*)\s*\.\.\.\s*(\S*)\s*\]`)
)

// readJVM reads the output of java -XX:+PrintFlagsFinal and -XX:+PrintFlagsRanges. Flags that can be
// changed while the machine runs ("manageable") print and dump things, and are left out; so are those
// that another option must unlock.
func readJVM(values, ranges string) []Setting {
	bounds := jvmBounds(ranges)
	var all []Setting
	for line := range strings.Lines(values) {
		m := jvmValue.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		kind, name, value, class, origin := m[1], m[2], m[3], m[4], m[5]
		words := strings.Fields(class)
		s := Setting{Name: name, Default: value, Restart: "restart", Rank: rankProduct}
		switch {
		case strings.Contains(class, "manageable"), strings.Contains(class, "diagnostic"),
			strings.Contains(class, "experimental"), strings.Contains(class, "develop"), len(words) == 0:
			continue
		case strings.Contains(class, "pd"):
			s.Note = "its default is of this platform"
		}
		if strings.Contains(origin, "ergonomic") {
			s.Rank, s.Note = rankErgonomic, "set to fit this machine"
		}
		switch kind {
		case "bool":
			s.Values = []string{"-XX:-" + name, "-XX:+" + name}
			s.Default = s.Values[0]
			if value == "true" {
				s.Default = s.Values[1]
			}
		case "int", "uint", "intx", "uintx", "size_t", "uint64_t", "double":
			s.Kind, s.Real, s.Min, s.Max = Number, kind == "double", math.Inf(-1), math.Inf(1)
			if b, ok := bounds[name]; ok {
				s.Min, s.Max = b[0], b[1]
			} else if kind[0] == 'u' || kind == "size_t" {
				s.Min = 0
			}
			if kind == "size_t" {
				s.Unit = "B"
			}
		default: // a text
			continue
		}
		all = append(all, s)
	}
	return all
}

// jvmBounds returns the ranges of the options that have one.
func jvmBounds(ranges string) map[string][2]float64 {
	bounds := map[string][2]float64{}
	for line := range strings.Lines(ranges) {
		if m := jvmRange.FindStringSubmatch(line); m != nil {
			low, err1 := strconv.ParseFloat(m[2], 64)
			high, err2 := strconv.ParseFloat(m[3], 64)
			if err1 == nil && err2 == nil {
				bounds[m[1]] = [2]float64{low, high}
			}
		}
	}
	return bounds
}
