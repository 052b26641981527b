package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assay-run/assay/internal/costmodel"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/planning"
	"github.com/assay-run/assay/internal/workflow/site"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/workflow"
)

// otherFlags are the flags of assay plan that do not go with a file of sites.
var otherFlags = []string{
	"slots", "levels", "simulate", "delay", "start", "calibrate", "save-calibration", "price",
	"prices", "deadline", "budget", "svg", "machines", "longest-path",
}

// isNetwork reports whether a file of --sites describes sites with their links
// rather than a JSON list of sites to compare.
func isNetwork(name string) bool {
	if name == "" {
		return false
	}
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(file, head)
	return !bytes.HasPrefix(bytes.TrimLeft(head[:n], " \t\r\n\ufeff"), []byte("["))
}

// runPlanSites plans workflows over the sites of a file.
func runPlanSites(cmd *cobra.Command, args []string, f *planFlags) error {
	for _, name := range otherFlags {
		if cmd.Flags().Changed(name) {
			return usagef("--%s does not go with a file of sites that has slots and links", name)
		}
	}
	if err := f.Check(); err != nil {
		return err
	}
	sites, err := spec.LoadSites(f.Sites)
	if err != nil {
		return err
	}
	machines, err := siteMachines(sites)
	if err != nil {
		return err
	}
	planning.Equip(sites.Sites, machines)
	network, err := sites.Network()
	if err != nil {
		return err
	}
	learned, err := learnedTasks(f.models, sites.Sites, machines)
	if err != nil {
		return err
	}
	times, err := f.KindTimes(planning.Disk)
	if err != nil {
		return err
	}
	var reports []*planning.Sites
	for _, arg := range args {
		r, err := planOverSites(cmd, arg, f, sites, network, times, learned)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	if f.json {
		return planning.WriteSitesJSON(cmd.OutOrStdout(), reports)
	}
	return planning.WriteSitesText(cmd.OutOrStdout(), reports)
}

// planOverSites plans the workflow that arg names.
func planOverSites(cmd *cobra.Command, arg string, f *planFlags, sites *spec.Sites, network *site.Network,
	times *workflow.KindModel, learned *planning.Tasks,
) (*planning.Sites, error) {
	w, err := planning.Read(planning.Disk, arg, cmd.InOrStdin(), workflow.FillOptions{Fill: f.Fill, Allow: times != nil})
	if err != nil {
		return nil, usageError(err)
	}
	r := &planning.Sites{Network: network}
	if r.Workflow, r.Notes, err = f.Refine(w, times); err != nil {
		return nil, err
	}
	opt := site.Options{Error: f.Error, Samples: f.Samples, Seed: f.Seed, Data: sites.Holds}
	if learned != nil {
		opt.Model = learned
		if n := learned.Unknown(r.Workflow); n > 0 {
			r.Note("%d of %d tasks are of a kind without --model: their times are the recorded ones by the "+
				"speed of a site", n, len(r.Workflow.Tasks))
		}
	}
	if !cmd.Flags().Changed("error") {
		opt.Error = site.AssumedError
		r.Note("intervals assume that the run times of a kind of task at a site are right to ±%.0f %% (--error)",
			100*opt.Error)
	}
	if !site.TellsData(r.Workflow) {
		r.Note("the workflow has no sizes of data: they are taken as 0")
	}
	r.Plans, err = site.MakePlans(r.Workflow, network, opt)
	return r, sites.Located(err)
}

// siteMachines reads the profiles of the sites that have one, by name.
func siteMachines(sites *spec.Sites) (map[string]costmodel.Machine, error) {
	machines := map[string]costmodel.Machine{}
	for i, file := range sites.Profiles {
		if file == "" {
			continue
		}
		b, err := files.Read(file, maxModel)
		if err != nil {
			return nil, sites.ProfileError(i, err)
		}
		if machines[sites.Sites[i].Name], err = costmodel.ReadMachine(b); err != nil {
			return nil, sites.ProfileError(i, fmt.Errorf("%s: %w", file, err))
		}
	}
	return machines, nil
}

// learnedTasks reads the models of --model KIND=FILE, nil without one.
func learnedTasks(texts []string, sites []site.Site, machines map[string]costmodel.Machine) (*planning.Tasks, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	models := map[string]*costmodel.Model{}
	for _, text := range texts {
		kind, file, ok := strings.Cut(text, "=")
		if !ok || kind == "" || file == "" {
			return nil, usagef("--model %s: a model is given as KIND=FILE", text)
		}
		m, err := readModel(file)
		if err != nil {
			return nil, err
		}
		if err := planning.Check(m, sites, machines); err != nil {
			return nil, usagef("--model %s: %v", text, err)
		}
		models[kind] = m
	}
	return planning.NewSiteModel(models, machines), nil
}
