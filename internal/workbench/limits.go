package workbench

import (
	"fmt"
	"math"
	"runtime"

	"github.com/assay-run/assay"
)

// How a run is limited: by cgroups, or else by the duty cycle and the storage itself.

// limitProgram makes the groups of the program. Processor shares for which there
// is no group are left to the duty cycle.
func (r *benchRun) limitProgram(name string) error {
	var m machine
	var settings []setting
	c, most := r.want.cpu, r.want.cpu
	trace, varies := r.traces[CPU]
	if varies {
		_, most = trace.Bounds()
	}
	if c > 0 && (varies || c < float64(runtime.NumCPU())) {
		r.cpus = int(math.Ceil(most))
		if varies || c != math.Trunc(c) {
			if _, err := m.hierarchy("cpu"); err == nil && m.canLimit("cpu") == nil {
				settings = append(settings, cpuSetting(c))
				r.quota = true
			} else {
				r.duty = c / float64(r.cpus)
			}
		}
	}
	if r.want.memory > 0 {
		settings = append(settings, memorySetting(r.want.memory))
	}
	if len(settings) == 0 {
		return nil
	}
	g, err := m.newGroups(name, settings...)
	if err != nil {
		return fmt.Errorf("%w: %w", err, assay.ErrSetup)
	}
	r.program = g
	return nil
}

// limitStorage makes the group of the storage. If the kernel cannot limit it, it
// returns the rate that the storage is to keep itself.
func (r *benchRun) limitStorage(name string) (rate float64) {
	if r.want.disk == 0 {
		return 0
	}
	var m machine
	device, err := m.device(r.data)
	if err != nil {
		return r.want.disk
	}
	g, err := m.newGroups(name, diskSetting(device, r.want.disk))
	if err != nil {
		return r.want.disk
	}
	r.storage, r.device = g, device
	return 0
}

// setDuty changes the share of the duty cycle of a program that has started.
func (r *benchRun) setDuty(share float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cycle != nil {
		r.cycle.set(share)
	}
}
