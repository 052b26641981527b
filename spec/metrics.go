package spec

import "slices"

// A BuiltinMetric is a metric that runs have without being asked.
type BuiltinMetric struct {
	Name, Unit string
	// Text describes the metric for people.
	Text string
	// Of names the runs that have the metric; "" is all.
	Of string
}

// builtin are the metrics of all runs.
var builtin = []BuiltinMetric{
	{"elapsed", "s", "from the start of the program to the end of its main process, or to the moment it was ended", ""},
	{"user", "s", "processor time of the whole tree of processes, in the program itself", ""},
	{"system", "s", "processor time of the whole tree of processes, in the kernel", ""},
	{"cpu", "s", "`user` and `system` together", ""},
	{"max_rss", "B", "the largest resident set of any one process of the tree", ""},
	{"read_bytes", "B", "read from disks; reads from the page cache are not counted", ""},
	{"write_bytes", "B", "written to disks", ""},
	{"energy", "J", "of the whole machine during the run, if its meter can be read (RAPL)", ""},
	{"power", "W", "`energy` divided by `elapsed`", ""},
	{"exit_code", "", "of the main process; 128+n if signal n ended it", ""},
	{"voluntary_switches", "", "how often a process waited, and another one had the processor", ""},
	{"involuntary_switches", "", "how often the kernel took the processor from a process", ""},
}

// ofBatch are the metrics that jobs of a batch system have as well.
var ofBatch = []BuiltinMetric{
	{
		"cpu_hours", "h", "processors that the job requested, times its hours",
		"jobs of a batch system with `cpus`",
	},
}

// ofService are the metrics that runs beside a service have as well.
var ofService = []BuiltinMetric{
	{"service_start", "s", "until the service was ready", "runs beside a `service`"},
	{"service_cpu", "s", "processor time of the service while the run went on", "runs beside a `service`"},
	{"service_rss", "B", "the largest resident set of any one process of the service", "runs beside a `service`"},
}

// BuiltinMetrics returns all of them; the metrics that every run has are first.
func BuiltinMetrics() []BuiltinMetric { return slices.Concat(builtin, ofBatch, ofService) }

func isBuiltin(metric string) bool {
	return slices.ContainsFunc(builtin, func(b BuiltinMetric) bool { return b.Name == metric })
}
