package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/assay-run/assay/internal/testbed"
)

// manifests are the files that docs/kubernetes.md has people apply.
var manifests = []string{"../../deploy/kubernetes/assay.yaml", "../../deploy/kubernetes/keda.yaml"}

// objects returns the documents of a file.
func objects(t *testing.T, path string) (all []map[string]any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	for {
		var o map[string]any
		switch err := d.Decode(&o); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, o)
	}
}

// texts returns a list of a manifest as texts.
func texts(v any) (all []string) {
	list, _ := v.([]any)
	for _, e := range list {
		s, _ := e.(string)
		all = append(all, s)
	}
	return all
}

// commandsIn returns the command lines of assay in an object: of containers, of probes, and of
// scripts for a shell.
func commandsIn(v any) (all [][]string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			all = append(all, commandsIn(e)...)
		}
	case map[string]any:
		line := append(texts(v["command"]), texts(v["args"])...)
		switch {
		case len(line) == 3 && line[0] == "sh" && line[1] == "-c":
			if _, rest, ok := strings.Cut(line[2], "|| assay "); ok {
				all = append(all, strings.Fields(rest))
			}
		case len(line) > 0 && line[0] == "assay":
			all = append(all, line[1:])
		}
		for _, e := range v {
			all = append(all, commandsIn(e)...)
		}
	}
	return all
}

// The commands, flags and values in the manifests exist in assay, and the objects refer to each other by their names.
func TestKubernetesCommands(t *testing.T) {
	var seen []string
	names := map[string]bool{}
	deployment := ""
	for _, path := range manifests {
		for _, o := range objects(t, path) {
			kind, _ := o["kind"].(string)
			meta, _ := o["metadata"].(map[string]any)
			name, _ := meta["name"].(string)
			names[kind+"/"+name] = true
			if spec, _ := o["spec"].(map[string]any); kind == "ScaledObject" {
				ref, _ := spec["scaleTargetRef"].(map[string]any)
				deployment, _ = ref["name"].(string)
			}
			for _, args := range commandsIn(o) {
				cmd, rest, err := newRoot(streams{strings.NewReader(""), io.Discard, io.Discard}).Find(args)
				if err == nil {
					err = cmd.ParseFlags(rest)
				}
				if err == nil {
					err = cmd.ValidateArgs(cmd.Flags().Args())
				}
				if err != nil || !cmd.Runnable() {
					t.Errorf("%s: assay %s: %v", path, strings.Join(args, " "), err)
				}
				seen = append(seen, cmd.CommandPath())
				if at := cmd.Flags().Lookup("server"); at != nil && at.Changed && at.Value.String() != "tls://assay:7701" {
					t.Errorf("%s: workers connect to %s, which is not the Service", path, at.Value)
				}
			}
		}
	}
	slices.Sort(seen)
	if got := strings.Join(seen, ", "); got != "assay server, assay server init, assay worker, assay workers ls" {
		t.Errorf("the manifests run %s", got)
	}
	for _, want := range []string{
		"Service/assay", "StatefulSet/assay", "Deployment/" + deployment,
		"ConfigMap/assay-apps",
	} {
		if !names[want] {
			t.Errorf("there is no %s", want)
		}
	}
}

// schemas returns where JSON schemas of Kubernetes are that scripts/deps.sh installs, "" if nowhere.
func schemas() string {
	found, _ := filepath.Glob(testbed.Installed("kubernetes", "kubernetes_validate", "kubernetes-json-schema",
		"v*-local-strict"))
	if len(found) == 0 {
		return ""
	}
	return slices.Max(found)
}

// kubernetesSchemas writes the schemas of the kinds that the manifests have, each with all that it
// refers to: kubeconform reads one file for each kind.
func kubernetesSchemas(t *testing.T, from, dir string) {
	t.Helper()
	read := func(name string) map[string]any {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(bytes.ReplaceAll(b, []byte("/api/_definitions.json#"), []byte("#")), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	defs := read("_definitions.json")["$defs"]
	for _, name := range []string{
		"service-v1.json", "configmap-v1.json", "networkpolicy-networking-v1.json", "statefulset-apps-v1.json",
		"deployment-apps-v1.json",
	} {
		schema := read(name)
		schema["$defs"] = defs
		delete(schema, "$id")
		b, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// kedaModule has the definition of the objects of KEDA.
const kedaModule = "github.com/kedacore/keda/v2@v2.21.0"

// strict has an object of a schema take no properties that it does not name.
func strict(schema any) {
	switch s := schema.(type) {
	case []any:
		for _, e := range s {
			strict(e)
		}
	case map[string]any:
		if _, ok := s["properties"].(map[string]any); ok && s["additionalProperties"] == nil {
			s["additionalProperties"] = s["x-kubernetes-preserve-unknown-fields"] == true
		}
		for _, e := range s {
			strict(e)
		}
	}
}

// kedaSchema writes the schema of a ScaledObject, made of KEDA's own definition.
func kedaSchema(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", kedaModule).Output()
	var m struct{ Dir string }
	if err != nil || json.Unmarshal(out, &m) != nil || m.Dir == "" {
		testbed.Lacks(t, kedaModule, err, string(out))
	}
	crd := objects(t, filepath.Join(m.Dir, "config/crd/bases/keda.sh_scaledobjects.yaml"))[0]
	versions, _ := crd["spec"].(map[string]any)["versions"].([]any)
	schema := versions[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
	top := schema["properties"].(map[string]any)
	top["metadata"] = map[string]any{"type": "object", "additionalProperties": true}
	strict(schema)
	b, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "scaledobject-keda-v1alpha1.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The manifests are as the schemas of Kubernetes and of KEDA have them, strictly, by kubeconform; and
// kubeconform finds a mistake in any of their objects.
func TestKubernetesSchemas(t *testing.T) {
	t.Parallel()
	testbed.System(t)
	at := schemas()
	if at == "" {
		testbed.Lacks(t, "kubernetes-validate")
	}
	dir := t.TempDir()
	kubernetesSchemas(t, at, dir)
	kedaSchema(t, dir)
	program := filepath.Join(dir, "kubeconform")
	if out, err := exec.Command("go", "build", "-modfile=../../tools.mod", "-o", program,
		"github.com/yannh/kubeconform/cmd/kubeconform").CombinedOutput(); err != nil {
		testbed.Lacks(t, "kubeconform", err, "\n", string(out))
	}
	check := func(paths ...string) (string, error) {
		args := append([]string{
			"-strict", "-summary", "-output", "json",
			"-schema-location", dir + "/{{ .ResourceKind }}{{ .KindSuffix }}.json",
		}, paths...)
		out, err := exec.Command(program, args...).CombinedOutput()
		return string(out), err
	}
	out, err := check(manifests...)
	var r struct {
		Summary struct{ Valid, Invalid, Errors, Skipped int }
	}
	if e := json.Unmarshal([]byte(out), &r); err != nil || e != nil || r.Summary.Valid != 6 ||
		r.Summary.Invalid+r.Summary.Errors+r.Summary.Skipped != 0 {
		t.Errorf("%v %v\n%s", err, e, out)
	}
	for i, path := range manifests {
		for j, o := range objects(t, path) {
			if o["kind"] == "ConfigMap" {
				o["date"] = "x"
			} else {
				o["spec"].(map[string]any)["replica"] = 1
			}
			b, err := yaml.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			bad := filepath.Join(dir, "bad.yaml")
			if err := os.WriteFile(bad, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := check(bad); err == nil || !strings.Contains(out, "additional") {
				t.Errorf("object %d of manifest %d: a property that there is not is not found: %v\n%s", j, i, err, out)
			}
		}
	}
}
