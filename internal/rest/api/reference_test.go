package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// A described is a schema of the OpenAPI document, as far as the reference has it.
type described struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Format               string
	Description          string
	Enum                 []any
	Default              any
	Minimum, Maximum     json.Number
	Items                *described
	Properties           map[string]*described
	AdditionalProperties json.RawMessage
	Required             []string
}

func (d *described) schema() string { return strings.TrimPrefix(d.Ref, "#/components/schemas/") }

// form is the form of a value, for a cell of a table.
func (d *described) form() string {
	if d == nil {
		return "any JSON"
	}
	if name := d.schema(); name != "" {
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	}
	kinds, null := []string{}, ""
	switch t := d.Type.(type) {
	case string:
		kinds = append(kinds, t)
	case []any:
		for _, k := range t {
			if k == "null" {
				null = " or null"
			} else {
				kinds = append(kinds, fmt.Sprint(k))
			}
		}
	}
	text := strings.Join(kinds, " or ")
	var of described
	switch {
	case text == "array":
		text = "list of " + d.Items.form()
	case len(d.Enum) > 0:
		text = strings.Trim(strings.Join(strings.Fields(fmt.Sprint(d.Enum)), ", "), "[]")
	case text == "object" && json.Unmarshal(d.AdditionalProperties, &of) == nil &&
		len(d.AdditionalProperties) > 2 && d.Properties == nil:
		text = "object of " + of.form()
	case d.Format == "date-time":
		text = "time"
	case text == "":
		text = "any JSON"
	}
	if d.Minimum != "" && d.Maximum != "" {
		text += fmt.Sprintf(", %v to %v", d.Minimum, d.Maximum)
	}
	return text + null
}

// told is the description, for a cell of a table.
func (d *described) told() string {
	text := d.Description
	if d.Default != nil {
		text = strings.TrimPrefix(fmt.Sprintf("%s; %v by default", text, d.Default), "; ")
	}
	return strings.ReplaceAll(text, "|", "\\|")
}

// A bodied holds a body: by content type, a schema.
type bodied struct {
	Content map[string]struct{ Schema described }
}

func (b bodied) form() string {
	for kind, c := range b.Content {
		if strings.HasPrefix(kind, "application/json") || len(b.Content) == 1 {
			form := c.Schema.form()
			if !strings.HasPrefix(kind, "application/json") {
				form = "`" + kind + "`"
			}
			return form
		}
	}
	return ""
}

// The reference has every route in the order of the table, with its input and output, and their schemas.
func TestReferenceOfREST(t *testing.T) {
	text, err := newRig(t).OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Summary, Description string
			Role                 Role `json:"x-role"`
			Parameters           []struct {
				Name, In, Description string
				Required              bool
				Schema                described
			}
			RequestBody bodied
			Responses   map[string]bodied
		}
		Components struct{ Schemas map[string]*described }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(`# REST

This page is made from the OpenAPI 3.1 document that a server itself serves at ` +
		"`/openapi.json`" + `, without the limits on lengths.
[REST conventions](../server-reference.md#rest-conventions) explains idempotency keys, entity tags and streams,
[security](../server-security.md) the roles.

A failure is answered with a [Problem](#problem) (` + "`application/problem+json`" + `).
A request that changes something takes the header ` + "`Idempotency-Key`" + `.

| request | role | what it does |
|---|---|---|
`)
	anchor := func(r Route) string {
		return strings.Map(func(c rune) rune {
			switch {
			case c == ' ':
				return '-'
			case strings.ContainsRune("/{}.", c):
				return -1
			}
			return c
		}, strings.ToLower(r.Method+" "+r.Path))
	}
	var documented []Route
	for _, r := range Routes {
		if _, ok := doc.Paths[r.Path][strings.ToLower(r.Method)]; ok {
			documented = append(documented, r)
			fmt.Fprintf(&b, "| [%s %s](#%s) | %s | %s |\n", r.Method, r.Path, anchor(r), r.Least, r.Text)
		}
	}
	if len(documented) < len(Routes)-3 { // all but those of the document itself and the metrics
		t.Errorf("%d of %d routes are in the document", len(documented), len(Routes))
	}
	b.WriteString("\n## Requests\n")
	for _, r := range documented {
		op := doc.Paths[r.Path][strings.ToLower(r.Method)]
		summary := strings.ToUpper(op.Summary[:1]) + op.Summary[1:]
		fmt.Fprintf(&b, "\n### %s %s\n\nRole: %v. %s.\n", r.Method, r.Path, op.Role, summary)
		if op.Description != "" {
			b.WriteString("\n" + op.Description + "\n")
		}
		rows := ""
		for _, p := range op.Parameters {
			if p.Name == "Idempotency-Key" {
				continue
			}
			p.Schema.Description = p.Description
			in := p.In
			if p.Required && in != "path" {
				in += ", needed"
			}
			rows += fmt.Sprintf("| `%s` | %s | %s | %s |\n", p.Name, in, p.Schema.form(), p.Schema.told())
		}
		if rows != "" {
			b.WriteString("\n| parameter | in | is | |\n|---|---|---|---|\n" + rows)
		}
		says := ""
		if body := op.RequestBody.form(); body != "" {
			says = "Takes " + body + ". "
		}
		for _, code := range []string{"200", "201", "204"} {
			if a, ok := op.Responses[code]; ok {
				if form := a.form(); form != "" {
					says += "Answers " + form + "."
				} else {
					says += "Answers " + code + " with nothing."
				}
			}
		}
		b.WriteString("\n" + strings.TrimSpace(says) + "\n")
	}
	b.WriteString("\n## Schemas\n")
	names := make([]string, 0, len(doc.Components.Schemas))
	for name := range doc.Components.Schemas {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		s := doc.Components.Schemas[name]
		fmt.Fprintf(&b, "\n### %s\n", name)
		if s.Description != "" {
			b.WriteString("\n" + s.Description + "\n")
		}
		if len(s.Properties) == 0 {
			b.WriteString("\n" + s.form() + "\n")
			continue
		}
		b.WriteString("\n| field | is | |\n|---|---|---|\n")
		fields := make([]string, 0, len(s.Properties))
		for field := range s.Properties {
			fields = append(fields, field)
		}
		slices.Sort(fields)
		for _, field := range fields {
			p := s.Properties[field]
			form := p.form()
			if !slices.Contains(s.Required, field) {
				form += ", may be left out"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", field, form, p.told())
		}
	}
	testbed.Current(t, "../../../docs/reference/rest.md", b.String(), "go test ./internal/rest/api -run ReferenceOfREST")
}
