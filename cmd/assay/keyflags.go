package main

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/spec"
)

// keyFlags are flags for keys of study files, from the declarations of the keys.
type keyFlags struct{ keys []spec.Key }

// A keyText is the text of such a flag. The study checks it.
type keyText struct{ text, kind string }

func (t *keyText) String() string        { return t.text }
func (t *keyText) Set(text string) error { t.text = text; return nil }
func (t *keyText) Type() string          { return t.kind }

// add declares the flags with these names, or of all keys that have one. help replaces the help of a key.
func (f *keyFlags) add(cmd *cobra.Command, help map[string]string, names ...string) {
	for _, k := range spec.Keys() {
		if k.Flag == "" || len(names) > 0 && !slices.Contains(names, k.Flag) {
			continue
		}
		f.keys = append(f.keys, k)
		flag := cmd.Flags().VarPF(&keyText{kind: k.Kind()}, k.Flag, "", cmp.Or(help[k.Flag], k.Help))
		if k.Kind() == "bool" {
			flag.NoOptDefVal = "true"
		}
		if k.Words != nil {
			choices(cmd, k.Flag, k.Words...)
		}
	}
}

// names returns the names of the flags.
func (f *keyFlags) names() []string {
	var all []string
	for _, k := range f.keys {
		all = append(all, k.Flag)
	}
	return all
}

// apply puts the flags that were given over st.
func (f *keyFlags) apply(cmd *cobra.Command, st *spec.Study) error {
	for _, k := range f.keys {
		flag := cmd.Flags().Lookup(k.Flag)
		if !flag.Changed {
			continue
		}
		if err := st.Set(k.Path, flag.Value.String()); err != nil {
			return usagef("--%s %s: %w", k.Flag, flag.Value, err)
		}
	}
	return nil
}
