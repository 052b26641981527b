package spec

// This file and the next are the keys of study files: one row is all that a key of a plain type needs
// besides its field.

// programKeys are the keys of how a program is run.
var programKeys = []Key{
	{
		Path: "name", Free: true, Doc: "name of the study in the store",
		field: func(s *Study) any { return &s.Name },
	},
	{
		Path: "command", Executes: true, Job: []string{"Argv"}, Excluded: OnLine, Compared: commandLevel,
		Doc:   "program and arguments, see *Placeholders*",
		field: func(s *Study) any { return &s.Command }, form: commandForm,
	},
	{
		Path: "app", Excluded: OnLine,
		Doc: "in place of a command: an application that the workers of a server have, see [apps.md](apps.md). It gets the " +
			"values of all parameters",
		field: func(s *Study) any { return &s.App },
	},
	{
		Path:  "replay",
		Doc:   "a recorded table in place of a command, see *Replay*",
		field: func(s *Study) any { return &s.Replay }, form: replayForm,
	},
	{
		Path: "shell", Flag: "shell", Executes: true, Excluded: notRun, Compared: allLevels,
		Doc:   "run `command` with `sh -c`, see *Shell lines*",
		Help:  "run the command by sh -c; parameters come as environment variables",
		field: func(s *Study) any { return &s.Shell }, form: form{node: shellNode},
	},
	{
		Path: "env", Executes: true, Job: []string{"Env"}, Excluded: notRun, Compared: allLevels,
		Doc:   "added to the environment; placeholders work",
		field: func(s *Study) any { return &s.Env }, form: envForm,
	},
	{
		Path: "secrets", Executes: true, Job: []string{"Secrets"}, Excluded: notRun, Free: true,
		Doc: "variables of the run, its service, hooks and commands of metrics, whose values are read where the run is " +
			"made, each time, and are stored nowhere; see *Secrets*",
		field: func(s *Study) any { return &s.Secrets }, form: secretsForm,
	},
	{
		Path: "dir", Executes: true, Job: []string{"Dir"}, Free: true, Compared: allLevels,
		Doc:   "working directory, relative to the study file; the tool's own if absent",
		field: func(s *Study) any { return &s.Dir }, form: pathForm,
	},
	{
		Path: "setup", Executes: true, Job: []string{"Setup"}, Excluded: notRun, Compared: allLevels,
		Doc:   "run once for each combination of the parameters that it uses, see *Setup*; not measured",
		field: func(s *Study) any { return &s.Setup }, finish: finishSetup,
	},
	{
		Path: "setup.command", Flag: "setup", Short: true, Required: true, Doc: "the command",
		Help: "shell command once for each combination of the parameters it names, not measured; " +
			"$SETUP is its folder, {setup} elsewhere",
		field: func(s *Study) any { return &s.Setup.Hook },
	},
	{
		Path: "setup.inputs", Doc: "patterns of files that it reads: it is run again when they change",
		field: func(s *Study) any { return &s.Setup.Inputs },
	},
	{
		Path: "setup.uses", Doc: "parameters that it depends on though its command does not name them",
		field: func(s *Study) any { return &s.Setup.Uses },
	},
	{
		Path: "setup.timeout", Free: true, Doc: "the longest that it may take",
		field: func(s *Study) any { return &s.Setup.Timeout },
	},
	{
		Path: "setup.parallel", Free: true, Doc: "it is run while runs go on",
		field: func(s *Study) any { return &s.Setup.Parallel },
	},
	{
		Path: "files", Executes: true, Job: []string{"Files"}, Excluded: notRun, Compared: allLevels,
		Doc:   "written into the directory of the command before `prepare`, see *Files*",
		field: func(s *Study) any { return &s.Files }, form: filesForm,
	},
	{
		Path: "prepare", Flag: "prepare", Executes: true, Job: []string{"Prepare"}, Excluded: notRun, Compared: allLevels,
		Doc: "run before each run, not measured", Help: "shell command before each run, not measured",
		field: func(s *Study) any { return &s.Prepare },
	},
	{
		Path: "cleanup", Flag: "cleanup", Executes: true, Job: []string{"Cleanup"}, Excluded: notRun, Compared: allLevels,
		Doc:   "run after each run, also a failed or stopped one, not measured",
		Help:  "shell command after each run, not measured",
		field: func(s *Study) any { return &s.Cleanup },
	},
	{
		Path: "service", Executes: true, Job: []string{"Service"}, Excluded: notRun, Compared: allLevels,
		Doc:   "a server that a run needs beside it, see *Services*",
		field: func(s *Study) any { return &s.Service }, finish: finishService,
	},
	{
		Path: "service.start", Required: true, Doc: "the command that starts it",
		field: func(s *Study) any { return &s.Service.Start },
	},
	{
		Path: "service.ready", Doc: "when it is ready; all of these must hold",
		field: func(s *Study) any { return &s.Service.Ready }, finish: finishReady,
	},
	{
		Path: "service.ready.command", Doc: "a command that succeeds then",
		field: func(s *Study) any { return &s.Service.Ready.Command },
	},
	{
		Path: "service.ready.port", Doc: "a port, or HOST:PORT, that answers then",
		field: func(s *Study) any { return &s.Service.Ready.Port },
	},
	{
		Path: "service.ready.output", Doc: "an expression that its output matches then",
		field: func(s *Study) any { return &s.Service.Ready.Output }, form: readyOutputForm,
	},
	{
		Path: "service.ready.within", Positive: true, Doc: "the longest wait",
		field: func(s *Study) any { return &s.Service.Ready.Within },
	},
	{
		Path: "service.stop", Doc: "the command that ends it; signals if absent",
		field: func(s *Study) any { return &s.Service.Stop },
	},
	{
		Path: "service.restart", Words: restarts,
		Doc:   "for each run, or when the parameters that it uses have changed",
		field: func(s *Study) any { return &s.Service.Restart },
	},
	{
		Path: "inputs", Executes: true, Job: []string{"Inputs"}, Excluded: notRun | OfTable,
		Doc: "files that a run reads, below the directory of the command; a server brings them to its workers, see " +
			"*Inputs and outputs*",
		field: func(s *Study) any { return &s.Inputs },
	},
	{
		Path: "outputs", Executes: true, Job: []string{"Outputs"}, Excluded: notRun | OfTable,
		Doc:   "files that a run leaves, below its directory; a server keeps them with the trial",
		field: func(s *Study) any { return &s.Outputs },
	},
	{
		Path: "shared", Executes: true, Job: []string{"Shared"}, Excluded: notRun | OfTable,
		Doc:   "absolute paths that are the same on all machines: nothing is copied",
		field: func(s *Study) any { return &s.Shared },
	},
	{
		Path: "verify", Flag: "verify", Executes: true, Job: []string{"Verify"}, Excluded: notRun, Compared: allLevels,
		Doc: "run after each run that succeeded, not measured: another exit code than 0 makes it a failed trial, " +
			"`wrong output: ...`",
		Help:  "shell command after each run, not measured: it fails if the output is wrong",
		field: func(s *Study) any { return &s.Verify },
	},
	{
		Path: "warmup", Flag: "warmup", Excluded: External, Compared: allLevels,
		Doc: "runs of a configuration before each that is measured", Help: "runs before each measured one",
		field: func(s *Study) any { return &s.Warmup },
	},
}

// spaceKeys are the keys of the parameters, the objective and the limits.
var spaceKeys = []Key{
	{
		Path: "parameters", Doc: "see *Parameters*; the order is kept",
		field: func(s *Study) any { return &s.Params }, form: parametersForm,
		differs: func(a, b *Study) []string { return diffParams(a.Params, b.Params) },
	},
	{
		Path: "where", Doc: "relations between parameters that every configuration satisfies",
		field: func(s *Study) any { return &s.Where }, form: form{schema: expressionSchema},
	},
	{
		Path: "objective", Compared: benchmarkLevel,
		Doc:   "`{minimize: elapsed}` if absent; two or three for a front, see *Several objectives*",
		field: func(s *Study) any { return &s.Objective }, form: objectiveForm,
		differs: func(a, b *Study) []string {
			return differ("objective", objectivesText(a.Objectives()), objectivesText(b.Objectives()))
		},
	},
	{
		Path: "level", Doc: "runs that are cheaper, see *Levels*",
		field: func(s *Study) any { return &s.Level }, finish: finishLevel,
	},
	{
		Path: "level.parameter", Required: true, Doc: "the parameter that decides how much a run costs",
		field: func(s *Study) any { return &s.Level.Parameter },
	},
	{
		Path: "level.full", Required: true, Doc: "its value at which runs are answers",
		field: func(s *Study) any { return &s.Level.Full },
	},
	{
		Path: "subject_to", Doc: "limits on metrics",
		field: func(s *Study) any { return &s.SubjectTo }, form: form{schema: expressionSchema},
	},
	{
		Path: "metrics", Excluded: OnLine, Compared: benchmarkLevel, Doc: "see *Metrics*, and for a list *Asked*",
		field: func(s *Study) any { return &s.Metrics }, form: metricsForm,
	},
	{Path: "progress", Doc: "a metric that a run reports before its end, see *Metrics*", form: progressForm},
}

// searchKeys are the keys of how a study searches, and when it ends.
var searchKeys = []Key{
	{
		Path: "search", Doc: "searcher; other keys are its options", field: func(s *Study) any { return &s.Search },
		options: func(s *Study) *map[string]any { return &s.Search.Options },
	},
	{
		Path: "search.name", Flag: "search", Short: true, Doc: "its name; `auto` if absent",
		field: func(s *Study) any { return &s.Search.Name },
	},
	{
		Path: "search.seed", Flag: "seed", Doc: "seed of the search; 0 if absent", Help: "seed of the search",
		field: func(s *Study) any { return &s.Search.Seed },
	},
	{
		Path:    "stop",
		Doc:     "early termination; other keys are options of the rule",
		field:   func(s *Study) any { return &s.Stop },
		options: func(s *Study) *map[string]any { return &s.Stop.Options },
	},
	{
		Path: "stop.rule", Flag: "stop", Short: true, Excluded: External, Idle: []string{"auto", "none"},
		Doc:   "the rule that ends runs early; `auto` if absent",
		field: func(s *Study) any { return &s.Stop.Rule },
	},
	{
		Path: "stop.interval", Flag: "interval", Excluded: External, Doc: "how often a run is observed",
		Help:  "how often a run is observed (default 100ms, or 1/40 of the best run)",
		field: func(s *Study) any { return &s.Stop.Interval },
	},
	{
		Path: "stop.gain", Flag: "gain", Free: true,
		Doc:   "ends the study when doubling the runs is expected to gain less, see *Gain*",
		Help:  "end when doubling the runs is expected to gain less than this `share`, such as 1%; none: no such end",
		field: func(s *Study) any { return &s.Stop.Gain }, form: gainForm,
	},
	{Path: "repeat", Doc: "runs of a configuration", field: func(s *Study) any { return &s.Repeat }},
	{
		Path: "repeat.runs", Flag: "repeat", Short: true, Doc: "how many; 1 if absent",
		Help:  "runs of each configuration: a number, or auto for as many as their order needs (default 1)",
		field: func(s *Study) any { return &s.Repeat.Runs }, form: runsForm,
	},
	{
		Path: "repeat.estimator", Flag: "estimator", Words: estimators, Doc: "the one value that they are reduced to",
		Help:  "the value of repeated runs: min, median or mean (default min)",
		field: func(s *Study) any { return &s.Repeat.Estimator },
	},
	{
		Path: "check", Free: true, Excluded: External | OnLine,
		Doc:   "pairs of runs at the end, which compare the best configuration with the first one; see *Check*",
		field: func(s *Study) any { return &s.Pairs },
	},
	{
		Path: "check.pairs", Flag: "check", Short: true,
		Doc: "how many: `auto`, which is meant if absent, for as many as it takes to show a difference; an exact number; " +
			"`none` for neither pairs nor repeated runs of the leaders",
		Help: "pairs of runs at the end that compare the best with the first configuration: auto for as many as it takes " +
			"to " +
			"show a difference (within a fifth of the time budget), a number, or none (default auto)",
		field: func(s *Study) any { return &s.Pairs.Runs }, form: pairsForm,
	},
	{
		Path: "check.share", Doc: "the largest part of the time budget that is kept back for them; `20%` if absent",
		field: func(s *Study) any { return &s.Pairs.Share }, form: shareForm,
	},
	{
		Path: "prior", Doc: "earlier studies that help, see *Prior*; the ones that come with assay if absent",
		field: func(s *Study) any { return &s.Prior },
	},
	{
		Path: "prior.use", Flag: "prior", Short: true, Doc: "which",
		Help: "earlier studies that help: auto for all on record that fit, none, or `names` with commas (default the ones " +
			"that come with assay)",
		form: priorForm,
	},
	{
		Path: "prior.alpha", Flag: "alpha", Positive: true, Below: 1, Doc: "how much of the space they prune",
		Help:  "how much of the space they prune: auto, or a number between 0 and 1 (default auto)",
		field: func(s *Study) any { return &s.Prior.Alpha }, form: alphaForm,
	},
	{
		Path: "prior.threshold", Positive: true, Below: 1, Doc: "the least correlation of a study that prunes",
		field: func(s *Study) any { return &s.Prior.Threshold },
	},
	{
		Path:  "prior.keep",
		Doc:   "values NAME=VALUE that are never pruned",
		field: func(s *Study) any { return &s.Prior.Keep },
	},
	{
		Path: "prior.rule", Words: PriorRules(), Doc: "our own rule, or the algorithm as it was published",
		field: func(s *Study) any { return &s.Prior.Rule },
	},
	{
		Path: "prior.surrogate", Words: PriorSurrogates(), Doc: "continues studies where they are compared",
		field: func(s *Study) any { return &s.Prior.Surrogate },
	},
	{Path: "budget", Free: true, Doc: "when the study ends", field: func(s *Study) any { return &s.Budget }},
	{
		Path: "budget.time", Flag: "budget", Short: true, Positive: true,
		Doc: "time of the clock for the whole study: [time in the queue](../slurm.md#time-in-the-queue) of a batch " +
			"system counts",
		Help: "time for the whole study, such as 10m", field: func(s *Study) any { return &s.Budget.Time },
	},
	{
		Path: "budget.trials", Flag: "trials", Least: 1, Doc: "number of trials", Help: "number of trials",
		field: func(s *Study) any { return &s.Budget.Trials },
	},
	{
		Path: "budget.target", Flag: "target",
		Doc:   "a value of the objective that is good enough; of seconds also a duration",
		Help:  "metric `value` that is good enough; of seconds also 50ms or 2m",
		field: func(s *Study) any { return &s.Budget.Target }, form: targetForm,
	},
	{
		Path: "budget.cpu_hours", Positive: true,
		Doc:   "hours of processors that the jobs of a batch system may take together",
		field: func(s *Study) any { return &s.Budget.CPUHours },
	},
	{
		Path: "timeout", Flag: "timeout", Free: true, Excluded: External, Compared: allLevels,
		Doc:  "limit of one run",
		Help: "limit of one run", field: func(s *Study) any { return &s.Timeout },
	},
	{
		Path: "parallel", Flag: "parallel", Least: 1, Free: true, Excluded: External, Doc: "runs at once",
		Help: "runs at once (default 1)", field: func(s *Study) any { return &s.Parallel }, form: parallelForm,
	},
}
