package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/testbed"
)

// The reference has every command in the words of its help.
func TestReferenceOfCommands(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Commands\n\nThis page is made from the commands themselves: `assay help COMMAND` says the same. " +
		"Which exit code means what: [the guide](../guide.md#exit-codes).\n")
	all := 0
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || strings.HasPrefix(c.CommandPath(), "assay completion ") || c.Name() == "help" {
			return
		}
		all++
		c.InitDefaultHelpFlag()
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", c.CommandPath(), strings.ToUpper(c.Short[:1])+c.Short[1:])
		if long := strings.TrimSpace(c.Long); long != "" {
			b.WriteString("\n```text\n" + long + "\n```\n")
		}
		b.WriteString("\n```text\n" + strings.TrimSpace(c.UsageString()) + "\n```\n")
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(streams{strings.NewReader(""), io.Discard, io.Discard}))
	if all < 60 {
		t.Errorf("%d commands", all)
	}
	testbed.Current(t, "../../docs/reference/cli.md", b.String(), "go test ./cmd/assay -run ReferenceOfCommands")
}
