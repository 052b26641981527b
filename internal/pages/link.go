package pages

import (
	"fmt"
	"regexp"
	"strings"
)

// link makes one script of the modules of web/ that entry needs, for a page that can load nothing: each module becomes
// a function that is called once, after those that it imports, and returns its exports.
//
// It only supports the form of our modules: imports at the beginning, each `import { a, b } from "./name.js";`,
// possibly over several lines, and declarations `export function`, `export class` or `export const`.
func link(read func(name string) ([]byte, error), entry string) (string, error) {
	l := linker{read: read, done: map[string]bool{}}
	if err := l.module(entry, nil); err != nil {
		return "", err
	}
	return "\"use strict\";\n" + l.out.String(), nil
}

type linker struct {
	read func(string) ([]byte, error)
	done map[string]bool
	out  strings.Builder
}

var (
	importLine = regexp.MustCompile(`(?s)import \{([^}]*)\} from "\./([a-z]+\.js)";\n`)
	exportWord = regexp.MustCompile(`(?m)^export (?:async )?(function|class|const) ([A-Za-z0-9_$]+)`)
	otherWord  = regexp.MustCompile(`(?m)^(?:import|export)\b.*$`)
)

func (l *linker) module(name string, above []string) error {
	for _, a := range above {
		if a == name {
			return fmt.Errorf("pages: modules import each other: %s", strings.Join(append(above, name), ", "))
		}
	}
	if l.done[name] {
		return nil
	}
	l.done[name] = true
	source, err := l.read(name)
	if err != nil {
		return err
	}
	text := string(source)
	var head strings.Builder
	for _, m := range importLine.FindAllStringSubmatch(text, -1) {
		if err := l.module(m[2], append(above, name)); err != nil {
			return err
		}
		names := strings.ReplaceAll(m[1], " as ", ": ")
		fmt.Fprintf(&head, "const {%s} = %s;\n", strings.Join(strings.Fields(names), " "), variable(m[2]))
	}
	text = importLine.ReplaceAllString(text, "")
	var exports []string
	for _, m := range exportWord.FindAllStringSubmatch(text, -1) {
		exports = append(exports, m[2])
	}
	text = exportWord.ReplaceAllStringFunc(text, func(s string) string { return strings.TrimPrefix(s, "export ") })
	if other := otherWord.FindString(text); other != "" {
		return fmt.Errorf("pages: %s: a form that is not linked: %s", name, other)
	}
	fmt.Fprintf(&l.out, "const %s = (() => {\n%s%sreturn {%s};\n})();\n", variable(name), head.String(), text,
		strings.Join(exports, ", "))
	return nil
}

func variable(name string) string { return "module_" + strings.TrimSuffix(name, ".js") }
