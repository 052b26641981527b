//go:build manual

// This file is not part of the installed program: it generates the manual of its commands.
//
//	go run -tags manual ./cmd/assay manual DIR   pages for man, and completions of shells

package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func init() { extra = append(extra, manualCommand) }

func manualCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    "manual DIR",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, dir := cmd.Root(), args[0]
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			root.DisableAutoGenTag = true
			day := time.Unix(0, 0).UTC() // the same bytes from the same sources
			head := &doc.GenManHeader{Title: "ASSAY", Section: "1", Source: "assay " + version(), Manual: "assay", Date: &day}
			if err := doc.GenManTree(root, head, dir); err != nil {
				return err
			}
			for name, write := range map[string]func(string) error{
				"assay.bash": func(f string) error { return root.GenBashCompletionFileV2(f, true) },
				"_assay":     root.GenZshCompletionFile,
				"assay.fish": func(f string) error { return root.GenFishCompletionFile(f, true) },
			} {
				if err := write(filepath.Join(dir, name)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
