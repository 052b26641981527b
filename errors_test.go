package assay_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/assay-run/assay"
)

func TestClassOf(t *testing.T) {
	sentinel := assay.Errorf(assay.ClassLocked, "in use")
	tests := []struct {
		name  string
		err   error
		class assay.Class
		hint  string
		text  string
	}{
		{"nil", nil, assay.ClassUnknown, "", ""},
		{"plain", errors.New("x"), assay.ClassUnknown, "", "x"},
		{"given", assay.Errorf(assay.ClassUsage, "no %q", "a"), assay.ClassUsage, "", `no "a"`},
		{"wrapped", fmt.Errorf("study: %w", sentinel), assay.ClassLocked, "", "study: in use"},
		{"the outermost counts", assay.WithClass(assay.ClassUsage, sentinel), assay.ClassUsage, "", "in use"},
		{"a hint leaves the class", assay.WithHint(sentinel, "wait"), assay.ClassLocked, "wait", "in use"},
		{"the outer hint counts", assay.WithHint(assay.WithHint(sentinel, "a"), "b"), assay.ClassLocked, "b", "in use"},
		{"joined", errors.Join(errors.New("x"), sentinel), assay.ClassLocked, "", "x\nin use"},
		{
			"a file that is not there", &fs.PathError{Op: "open", Path: "f", Err: fs.ErrNotExist},
			assay.ClassNotFound, "", "open f: file does not exist",
		},
		{"a name that is taken", fmt.Errorf("a: %w", fs.ErrExist), assay.ClassConflict, "", "a: file already exists"},
		{
			"a file named by a user", assay.WithClass(assay.ClassUsage, fs.ErrNotExist), assay.ClassUsage, "",
			"file does not exist",
		},
		{
			"an empty space", fmt.Errorf("%w: never", assay.ErrEmpty), assay.ClassUsage, "",
			"no configuration is admissible: never",
		},
	}
	for _, tt := range tests {
		if got := assay.ClassOf(tt.err); got != tt.class {
			t.Errorf("%s: class %v, want %v", tt.name, got, tt.class)
		}
		if got := assay.HintOf(tt.err); got != tt.hint {
			t.Errorf("%s: hint %q, want %q", tt.name, got, tt.hint)
		}
		if tt.err != nil && tt.err.Error() != tt.text {
			t.Errorf("%s: text %q, want %q", tt.name, tt.err, tt.text)
		}
	}
	if !errors.Is(fmt.Errorf("x: %w", sentinel), sentinel) {
		t.Error("a classified sentinel does not match itself")
	}
	if assay.WithClass(assay.ClassIO, nil) != nil || assay.WithHint(nil, "x") != nil {
		t.Error("no error became one")
	}
}
