package spec

// placeKeys are the keys of where the runs are made.
var placeKeys = []Key{
	{
		Path: "place", Free: true, Excluded: External,
		Doc:    "the place of the runs",
		field:  func(s *Study) any { return &s.Placement },
		finish: finishPlace,
	},
	{
		Path: "place.on", Short: true,
		Doc: "`local`, this machine; `fleet`, the workers of a server (see [server.md](../server.md)); " +
			"`slurm`, jobs of Slurm (see [slurm.md](../slurm.md)); `batch`, jobs of the batch system that `system` describes " +
			"(see [batch.md](../batch.md)); `table` for a replay",
		field: func(s *Study) any { return &s.Placement.On },
	},
	{
		Path: "place.parallel", Least: 1,
		Doc:  "as at the top",
		form: form{read: readPlaceParallel, node: unwritten, value: "whole number >= 1"},
	},
	{
		Path: "place.class", Flag: "class",
		Doc:   "class of the machines: `same` as the first that takes a run, `any`, or a class of `assay workers ls`",
		Help:  "`class` of the machines: same as the first that takes a run, any, or one of assay workers ls (default same)",
		field: func(s *Study) any { return &s.Placement.Class },
	},
	{
		Path: "place.target",
		Doc: "with `class: any`, the class that the answer is for; if absent, the class of the first trial " +
			"that ends (see [server.md](../server.md))",
		field: func(s *Study) any { return &s.Placement.Target },
	},
	{
		Path: "place.system", Doc: "file of a batch system, see [batch.md](../batch.md)", form: pathForm,
		field: func(s *Study) any { return &s.Placement.Batch.System },
	},
	{Path: "place.partition", Doc: "of the jobs", field: func(s *Study) any { return &s.Placement.Batch.Partition }},
	{Path: "place.account", Doc: "of the jobs", field: func(s *Study) any { return &s.Placement.Batch.Account }},
	{
		Path:  "place.nodes",
		Doc:   "of each job",
		field: func(s *Study) any { return &s.Placement.Batch.Nodes },
		form:  sizeForm,
	},
	{
		Path:  "place.cpus",
		Doc:   "of each job",
		field: func(s *Study) any { return &s.Placement.Batch.CPUs },
		form:  sizeForm,
	},
	{
		Path:  "place.memory",
		Doc:   "of each job",
		field: func(s *Study) any { return &s.Placement.Batch.Memory },
		form:  sizeForm,
	},
	{
		Path:  "place.gpus",
		Doc:   "of each job",
		field: func(s *Study) any { return &s.Placement.Batch.GPUs },
		form:  sizeForm,
	},
	{
		Path: "place.extra", Doc: "arguments of the command that submits", form: listForm,
		field: func(s *Study) any { return &s.Placement.Batch.Extra },
	},
	{
		Path: "place.setup", Doc: "lines of shell before the program", form: listForm,
		field: func(s *Study) any { return &s.Placement.Batch.Setup },
	},
	{
		Path: "place.time", Doc: "longest time of each job; `auto` is the limit of the stopping rule",
		field: func(s *Study) any { return &s.Placement.Batch.Time }, form: form{read: readPlaceTime},
	},
	{
		Path: "place.spool", Doc: "directory that the machines of the jobs share", form: pathForm,
		field: func(s *Study) any { return &s.Placement.Batch.Spool },
	},
	{
		Path: "place.poll", Doc: "how often the batch system is asked",
		field: func(s *Study) any { return &s.Placement.Batch.Poll },
	},
	{
		Path: "workbench", Job: []string{"Data", "Resources", "Traces"}, Excluded: WithApp | External,
		Doc: "emulated resources: the parameters `cpu`, `memory`, `rtt`, `bandwidth` and `disk` are realised, see " +
			"[costmodel.md](../costmodel.md)",
		field: func(s *Study) any { return &s.Workbench },
	},
	{
		Path: "workbench.data", Doc: "directory of the data set; placeholders and `{setup}` give each value its own",
		field: func(s *Study) any { return &s.Workbench.Data }, form: form{read: readDataSet},
	},
	{
		Path: "workbench.mount", Doc: "where the program sees it", form: pathForm,
		field: func(s *Study) any { return &s.Workbench.Mount },
	},
	{
		Path: "workbench.traces", Doc: "levels that vary during a run, see *Traces*",
		field: func(s *Study) any { return &s.Workbench.Traces }, form: tracesForm,
	},
	{
		Path: "workbench.passive", Doc: "emulates nothing, and takes the measures from real runs",
		field: func(s *Study) any { return &s.Workbench.Passive },
	},
}

// recordKeys are parts of a stored study that no file has.
var recordKeys = []Key{
	{
		Path: "staged", stored: true, Executes: true, Excluded: 0,
		Doc:     "the inputs and shared paths that a server was given",
		field:   func(s *Study) any { return &s.Staged },
		differs: func(a, b *Study) []string { return a.Staged.diff(b.Staged) },
	},
	// An external study executes nothing here, but its clients execute the configurations it proposes.
	{
		Path: "asked", stored: true, Executes: true,
		Doc:     "an external study",
		field:   func(s *Study) any { return &s.Asked },
		differs: same,
	},
}

func same(_, _ *Study) []string { return nil } // the mode covers it
