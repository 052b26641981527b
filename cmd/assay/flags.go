package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flagGroup is a part of the flags of a command under a heading of their own.
type flagGroup struct {
	title string
	names []string
}

// group shows the flags of cmd, all of which must be defined, in these groups; ungrouped flags come last. It panics if
// a group names a flag that does not exist.
func group(cmd *cobra.Command, groups ...flagGroup) {
	cmd.InitDefaultHelpFlag()
	all := cmd.LocalFlags()
	all.SortFlags = false
	shown := map[string]bool{}
	var text strings.Builder
	show := func(title string, flags *pflag.FlagSet) {
		if usages := strings.TrimRight(flags.FlagUsages(), "\n"); usages != "" {
			text.WriteString(title + ":\n" + usages + "\n\n")
		}
	}
	for _, g := range groups {
		set := pflag.NewFlagSet(g.title, pflag.ContinueOnError)
		set.SortFlags = false
		for _, name := range g.names {
			f := all.Lookup(name)
			if f == nil {
				panic("no flag " + name)
			}
			set.AddFlag(f)
			shown[name] = true
		}
		show(g.title, set)
	}
	rest := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.VisitAll(func(f *pflag.Flag) {
		if !shown[f.Name] {
			rest.AddFlag(f)
		}
	})
	show("Other flags", rest)
	usages := strings.ReplaceAll(strings.TrimSpace(text.String()), "{{", `{{"{{"}}`)
	cmd.SetUsageTemplate("Usage:\n  {{.UseLine}}{{if .HasExample}}\n\nExamples:\n{{.Example}}{{end}}\n\n" + usages + "\n")
}

// choices lets a shell complete the values of a flag.
func choices(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // a flag that does not exist, or has completions already
	}
}
