package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A component is a part of CycloneDX's document. The names are the format's.
type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	Scope      string     `json:"scope,omitempty"`
	Licences   []licence  `json:"licenses,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type licence struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

type document struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp,omitempty"`
	Component component `json:"component"`
}

// our is the path of our own module.
const our = "github.com/assay-run/assay"

// sbom returns the bill of materials. version may be "" and epoch, in seconds, too.
func sbom(modules []module, version, epoch string) ([]byte, error) {
	d := document{Format: "CycloneDX", SpecVersion: "1.6", Version: 1}
	d.Metadata.Component = component{
		Type: "application", Ref: "assay", Name: "assay", Version: version, Licences: ids([]string{"Apache-2.0"}),
		PURL: purl(our, "", "cmd/assay"),
	}
	if epoch != "" {
		s, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
		d.Metadata.Timestamp = time.Unix(s, 0).UTC().Format(time.RFC3339)
	}
	refs := map[string]string{}
	for _, m := range modules {
		refs[m.Path] = purl(m.Path, m.Version, "")
	}
	all := dependency{Ref: "assay"}
	for _, m := range modules {
		c := component{
			Type: "library", Ref: refs[m.Path], Name: m.Path, Version: m.Version, Scope: "required",
			Licences: ids(m.licences), PURL: refs[m.Path],
		}
		if m.Sum != "" {
			c.Properties = []property{{"go:sum", m.Sum}}
		}
		d.Components = append(d.Components, c)
		dep := dependency{Ref: refs[m.Path]}
		for _, r := range m.Requires {
			dep.DependsOn = append(dep.DependsOn, refs[r])
		}
		d.Dependencies = append(d.Dependencies, dep)
		all.DependsOn = append(all.DependsOn, refs[m.Path])
	}
	d.Dependencies = append(d.Dependencies, all)
	b, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	d.SerialNumber = serial(b)
	if b, err = json.MarshalIndent(d, "", "  "); err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

// ids returns licences in the form of the document. Files that could not be classified are left out:
// `bill licences` fails for them.
func ids(spdx []string) (list []licence) {
	for _, id := range spdx {
		if !strings.HasPrefix(id, "unknown") {
			var l licence
			l.Licence.ID = id
			list = append(list, l)
		}
	}
	return list
}

// purl returns the package URL of a module.
func purl(path, version, sub string) string {
	p := "pkg:golang/" + path
	if version != "" {
		p += "@" + strings.ReplaceAll(version, "+", "%2B")
	}
	if sub != "" {
		p += "#" + sub
	}
	return p
}

// serial returns a UUID of the form 8, made from the content: equal bills have equal numbers.
func serial(content []byte) string {
	u := sha256.Sum256(content)
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
