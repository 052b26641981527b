package api

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/assay-run/assay"
)

// mostConfigs is how many configurations one request may give.
const mostConfigs = 10_000

// GivenConfigs reads the configurations that arguments name: a file, - for the input of that name, or a literal one.
func GivenConfigs(name string, in io.Reader, args []string) ([]map[string]any, error) {
	if strings.Contains(args[0], "=") {
		c, err := parseConfig(args)
		return []map[string]any{c}, err
	}
	if len(args) > 1 {
		return nil, assay.Errorf(assay.ClassUsage, "one file of configurations at a time, not %d: %s", len(args),
			strings.Join(args, " "))
	}
	if args[0] == "-" {
		return readConfigs(name, in)
	}
	file, err := os.Open(args[0])
	if err != nil {
		return nil, assay.WithClass(assay.ClassUsage, err)
	}
	defer file.Close()
	return readConfigs(args[0], file)
}

// readConfigs reads configurations from comma-separated values with a header line of parameter names. name is used in
// messages. The server checks the values, because it knows the parameters.
func readConfigs(name string, r io.Reader) ([]map[string]any, error) {
	rows := csv.NewReader(r)
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, assay.Errorf(assay.ClassUsage, "%s is empty: the first line has the names of the parameters", name)
	}
	var all []map[string]any
	for err == nil {
		var row []string
		if row, err = rows.Read(); err != nil {
			break
		}
		if len(all) == mostConfigs {
			return nil, assay.Errorf(assay.ClassUsage, "%s: more than %d configurations: give them in parts", name, mostConfigs)
		}
		c := make(map[string]any, len(header))
		for i, text := range row {
			key := strings.TrimSpace(header[i])
			if _, twice := c[key]; twice {
				return nil, assay.Errorf(assay.ClassUsage, "%s:1: parameter %q stands twice", name, key)
			}
			c[key] = strings.TrimSpace(text)
		}
		all = append(all, c)
	}
	if p, ok := errors.AsType[*csv.ParseError](err); ok {
		return nil, assay.Errorf(assay.ClassUsage, "%s:%d:%d: %w", name, p.Line, p.Column, p.Err)
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(all) == 0 {
		return nil, assay.Errorf(assay.ClassUsage, "%s: a header, and no configuration", name)
	}
	return all, nil
}

// parseConfig reads a configuration that is written NAME=VALUE, one text a parameter.
func parseConfig(texts []string) (map[string]any, error) {
	c := make(map[string]any, len(texts))
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if _, twice := c[name]; !ok || name == "" || twice {
			return nil, assay.Errorf(assay.ClassUsage, "%q: a configuration is NAME=VALUE for each parameter, once", text)
		}
		c[name] = value
	}
	return c, nil
}
