package main

// A check is tests that hold a promise.
type check struct {
	pkg string // below the module's root
	run string // regular expression of the tests, for go test -run
}

// A promise is a property that users may rely on.
type promise struct {
	id, words string
	checks    []check
	// control names the test that shows that the tests would detect a broken promise: the same with its
	// protection taken away, which must fail. If controls is empty, control is the reason.
	control  string
	controls []check
	// lacks describes the untested part, "" if none is known.
	lacks string
}

// promises is the table. A test of this package sees that every test there is.
var promises = []promise{
	{"P1", "A finished trial is never lost, even if any process is killed at any instant.", []check{
		{"internal/store/sqlite", "TestKill|TestKillGroup"},
		{"cmd/assay", "TestKill9"},
		{"internal/worker", "TestKilled"},
		{"internal/service", "TestKilled"},
		{"internal/server", "TestFleetKilled"},
	}, "who acknowledges a trial before it is on record loses it; the simulator's planted bugs (P18)", []check{
		{"internal/store/sqlite", "TestKillControl"},
		{"internal/service", "TestKilledControl"},
		{"internal/queue", "TestSimulatorFindsFlaws"},
	}, ""},
	{"P2", "Nor is it lost by a power cut.", []check{
		{"internal/store/sqlite", "TestPowerCut"}, {"internal/files", "TestPowerCut"},
	}, "commits that do not wait for the disk, and files written in place, lose in 80 % of cuts or more", []check{
		{"internal/store/sqlite", "TestPowerCut"}, {"internal/files", "TestPowerCut"},
	}, ""},
	{"P3", "A full or failing disk ends assay cleanly and costs nothing that was finished.", []check{
		{"internal/store/sqlite", "TestEachOperationFails|TestReserve|TestFull|TestReadOnly"},
		{"setup", "TestRoom|TestMostOutput"},
		{"cmd/assay", "TestDiskErrors"},
		{"internal/queue", "TestRecordFails"},
		{"internal/worker", "TestEachOperationOfTheSpoolFails"},
	}, "without the reserve the disk takes no result", []check{{"internal/store/sqlite", "TestReserve"}}, ""},
	{"P4", "A study resumes where it stopped: nothing runs again, nothing is left out.", []check{
		{"study", "TestResumeAfterEveryEvent|TestKilledBehindEachEvent"},
		{"cmd/assay", "TestKilledEveryHalfSecond|TestResumeDoesNotSearchAgain"},
		{"search", "TestResume"},
	}, "a record without its results, and a searcher that goes on from elsewhere, do not pass; nor does any of six " +
		"flaws of memos", []check{
		{"study", "TestResumeControl"}, {"assaytest", "TestResumerFindsFaults"},
	}, ""},
	{"P5", "A trial counts once, even if its result is delivered twice.", []check{
		{"internal/queue", "TestSimulator"},
		{"study", "TestCutsAreRecordedOnce"},
		{"internal/rest/api", "TestIdempotency|TestKeysSurviveARestart"},
	}, "the simulator's planted bugs (P18)", []check{{"internal/queue", "TestSimulatorFindsFlaws"}}, ""},
	{
		"P6", "A worker that was frozen cannot overwrite newer work.",
		[]check{
			{"internal/server", "TestWorkersFrozen|TestWorkersCutOff"},
			{
				"internal/queue",
				"TestFrozen|TestPartition|TestStaleOutcome|TestTaintedOutcomeDoesNotCount|TestHeardOfWhileAnotherIsLost",
			},
			{"internal/store/postgres", "TestLeaseFrozen"},
		},
		"records in which an outcome counts twice, or is thrown away, are seen; the simulator's planted bugs (P18)",
		[]check{
			{"internal/server", "TestWorkersFrozen"}, {"internal/queue", "TestSimulatorFindsFlaws"},
		},
		"",
	},
	{
		"P7", "Stopping a trial leaves nothing running, and hits no other process.",
		[]check{
			{"run", "TestHostileTreeLeavesNothing|TestForkBombEnds|TestSweepEndsWhatAKilledToolHasLeft|TestSweepSparesOthers"},
			{"cmd/assay", "TestScripts/interrupt"},
		},
		"a process of a dead tool is ended, those with forged markers are not",
		[]check{{"run", "TestSweepSparesOthers"}},
		"",
	},
	{"P8", "When the server starts again, runs that went on are taken up.", []check{
		{"internal/service", "TestKilled"}, {"internal/server", "TestFleetKilled|TestReady|TestServerAway"},
	}, "an outcome that is acknowledged before it is on record is missed; so is a booking, or an end that is there " +
		"twice; without memos " +
		"searches are made again", []check{
		{"internal/service", "TestKilledControl"},
		{"internal/server", "TestFleetKilled|TestReadyControl"},
	}, ""},
	{
		"P9", "Slurm may crash, requeue, forget or lie: the result stays right.",
		[]check{
			{"internal/batch", "TestFaults|TestSaid|TestRealSlurm|TestEnds|TestBooked"}, {"cmd/assay", "TestSlurmExample"},
		},
		"without claims runs are made twice; trusting Slurm's reports gives wrong outcomes",
		[]check{{"internal/batch", "TestSaid"}},
		"",
	},
	{
		"P10", "Assay is a polite guest of Slurm.",
		[]check{
			{"internal/batch", "TestPolite|TestCommands"},
		},
		"a query in five seconds, ten jobs a second, and a command for each job are seen",
		[]check{{"internal/batch", "TestPoliteControl"}},
		"",
	},
	{"P11", "A restart of the database or the queue is a pause, not a loss.", []check{
		{"internal/store/postgres", "TestPostmasterKilled|TestCutReply|TestAway"},
		{"internal/queue/jetstream", "TestHarm|TestStartDamaged"},
	}, "a call that is made once fails, commits that do not wait are lost, an unknown outcome that is taken for none is " +
		"there twice, " +
		"a run that is not offered again is never made", []check{
		{"internal/store/postgres", "TestPostmasterKilledControl|TestCutReplyControl"},
		{"internal/queue/jetstream", "TestHarmControl"},
	}, ""},
	{
		"P12", "Many at once are fine.",
		[]check{
			{"internal/store/sqlite", "TestProcesses|TestOpenAtOnce"},
			{"internal/store/postgres", "TestManyClients"},
			{"internal/queue", "TestLargeFleet"},
			{"internal/server", "TestWatchers"},
			{"internal/online", "TestSessionIsBounded|TestJoinsAreBounded"},
			{"internal/service", "TestManyStudies"},
			{"internal/rest/api", "TestEventsFollowers"},
		},
		"who goes on from where a study was before another wrote is refused",
		[]check{{"internal/store/sqlite", "TestProcessesOfOneStudy"}},
		"",
	},
	{"P13", "Wild output of a program harms nothing.", []check{
		{"run", "TestWildOutput|TestKeeper|TestOutput|TestMetrics"},
		{"cmd/assay", "TestNothingHostileReachesTheTerminal"},
		{"internal/web", "TestHostile"},
	}, "a stream that is kept whole is seen in memory", []check{{"run", "TestWildOutputControl"}}, ""},
	{
		"P14", "Clocks may jump, and the machine may sleep.",
		[]check{
			{"run", "TestAwake"},
			{"internal/worker", "TestWatch|TestTainted"},
			{"study", "TestClockJumps"},
			{"internal/queue", "TestClockJumps|TestWorkersClocks|TestServerFrozen|TestSimulator"},
			{"internal/online", "TestClockJumps"},
			{"internal/term", "TestStatusSurvivesAClockThatGoesBack"},
		},
		"a program that trusts the clock has another result; a run that was not stopped is not given up",
		[]check{
			{"study", "TestClockJumps"},
			{"internal/queue", "TestClockJumps"},
			{"internal/online", "TestClockJumps"},
			{"run", "TestAwake"},
		},
		"",
	},
	{"P15", "A damaged file is seen, named, and mostly saved.", []check{
		{"internal/store/sqlite", "TestDamage|TestDamagedLog|TestLogWithoutFile|TestCopyDamaged|TestMark"},
		{"cmd/assay", "TestScripts/salvage"},
		{"cmd/assay", "TestScripts/salvage_log"},
		{"internal/files", "TestDamaged|TestCacheDamaged"},
	}, "a store without damage is whole, and unread bits harm nothing: only damage is reported", []check{
		{"internal/store/sqlite", "TestDamage$|TestMarkRefusesNothingWhole"},
	}, ""},
	{"P16", "An unknown result is never called a success.", []check{
		{"internal/queue", "TestSimulator|TestStaleOutcome"},
		{"study", "TestExhaustedMachineEndsTheStudy|TestMissingMetricFailsTheTrial|TestExitCodeFailsTheTrial"},
	}, "the simulator's planted bugs (P18)", []check{{"internal/queue", "TestSimulatorFindsFlaws"}}, ""},
	{"P17", "An update is safe: older stores are read, newer ones refused.", []check{
		{"internal/store/sqlite", "TestFixtures|TestMigrat"}, {"search", "TestResumeOldRecord"}, {"setup", "TestOldStores"},
	}, "a study of another seed does not go on", []check{{"setup", "TestOldStores"}}, ""},
	{"P18", "All of this holds together under every order of events that the simulator draws.", []check{
		{"internal/queue", "TestSimulator|TestSimulatorFindsFlaws|TestSimulatorRepeats"},
	}, "each of the planted bugs is found", []check{{"internal/queue", "TestSimulatorFindsFlaws"}}, ""},
	{"S1", "Nothing is open to the network unless you open it.", []check{
		{"cmd/assay", "TestScripts/server_badinput"},
		{"internal/rest", "TestStrangers"},
		{"cmd/assay", "TestScripts/strangers"},
	}, "a socket of another program on all addresses is seen", []check{{"cmd/assay", "TestScripts/strangers"}}, ""},
	{
		"S2", "No action without the right to it.",
		[]check{{"internal/rest/api", "TestMatrix|TestEveryRouteHasARow|TestScope|TestExecutes"}},
		"a route without a row fails",
		[]check{{"internal/rest/api", "TestEveryRouteHasARow"}},
		"",
	},
	{"S3", "A web page that you visit cannot drive assay.", []check{
		{"internal/rest/api", "TestHosts|TestOrigins"}, {"internal/rest", "TestBadRequests"},
	}, "behind a proxy that hides the name and the origin of requests all of them get through", []check{
		{"internal/rest/api", "TestPagesControl"},
	}, ""},
	{
		"S4", "Other users of a machine cannot use it.",
		[]check{{"cmd/assay", "TestScripts/strangers"}, {"internal/rest", "TestStrangers"}},
		"a file that is for all can be read by the other user",
		[]check{{"cmd/assay", "TestScripts/strangers"}},
		"without root, which it takes to be another user",
	},
	{"S5", "A parameter's value is data.", []check{
		{"setup", "TestValuesAreData"},
		{"spec", "TestValueIsData"},
		{"internal/worker", "TestHostileTasks"},
		{"internal/web", "TestHostileForms"},
	}, "a command that is made a line for a shell executes a value", []check{{"setup", "TestValuesAreDataControl"}}, ""},
	{"S6", "Files of runs stay in their box.", []check{
		{"internal/files", "TestPlaceHostileNames|TestNames"}, {"run", "TestFiles"},
	}, "who writes to where a name leads writes outside", []check{{"internal/files", "TestPlaceHostileNamesControl"}}, ""},
	{"S7", "Bombs are refused early.", []check{
		{"internal/rest/api", "TestBombs"},
		{"spec", "TestBombs"},
		{"internal/workflow/trace", "TestGzipBomb"},
		{"internal/files", "TestReadIsBounded"},
	}, "a log that packs well is read", []check{{"internal/workflow/trace", "TestGzipBomb"}}, ""},
	{
		"S8", "Secrets do not leak.",
		[]check{
			{"internal/access", "TestConceal"},
			{"internal/rest/api", "TestQueries"},
			{"run", "TestSecrets"},
			{"spec", "TestSecrets"},
			{"cmd/assay", "TestScripts/strangers"},
		},
		"a file with the value is found",
		[]check{{"cmd/assay", "TestScripts/strangers"}},
		"",
	},
	{"S9", "A worker can do its job and nothing else.", []check{
		{"internal/queue/jetstream", "TestDoor|TestForbidden|TestRevoke"},
		{"internal/access", "TestReplacedTokenIsCutOff"},
		{"internal/rest/api", "TestWorkersBlobs"},
	}, "the door of the server's own user lets everything through; so does a server that looks at no application", []check{
		{"internal/queue/jetstream", "TestForbiddenControl"},
	}, ""},
	{
		"S10", "A server and a study contact no other host.",
		[]check{{"cmd/assay", "TestScripts/strangers"}},
		"a datagram of another program is seen",
		[]check{{"cmd/assay", "TestScripts/strangers"}},
		"",
	},
	{
		"S11", "Readers withstand any input.",
		[]check{
			{"internal/workflow/trace", "^FuzzRead"}, // WfFormat, DAGMan, Nextflow, Snakemake, tables of tasks
			{"workflow", "^FuzzReadCalibration"},
			{"internal/table", "^FuzzReadTable"},
			{"examples/schedsim", "^FuzzReadLog"},
			{"spec", "^Fuzz"},
			{"internal/expr", "^Fuzz"},
			{"internal/meterfs", "^FuzzRequest|^FuzzReply"},
			{"internal/rest", "^FuzzServer"},
			{"internal/costmodel", "^FuzzModelJSON|^FuzzReadMachine"},
			{"internal/result", "^FuzzOptuna"},
			{"setup", "^FuzzRecords"},
			{"internal/store/sqlite", "^Fuzz"},
			{"run", "^Fuzz"},
			{"internal/batch", "^Fuzz"},
			{"internal/rest/api", "^Fuzz"},
			{"internal/queue/jetstream", "^Fuzz"},
		},
		"none: a reader that panics ends its own test", nil, "this runs the seeds; `make fuzz` searches",
	},
	{
		"S12", "Guessing a token is useless, and a want of descriptors ends nothing.",
		[]check{
			{"internal/access", "TestBruteForce"},
			{"internal/rest/api", "TestWrongTokens"},
			{"internal/rest", "TestStrangers|TestNoDescriptors"},
		},
		"tokens that wait for nothing, connections that are never closed, and an error that ends a server are seen",
		[]check{
			{"internal/access", "TestBruteForceControl"},
			{"internal/rest/api", "TestWrongTokensControl"},
			{"internal/rest", "TestStrangersControl|TestNoDescriptorsControl"},
		},
		"",
	},
	{
		"S13", "A server cannot have a worker run a program that the worker's own file does not allow.",
		[]check{{"internal/worker", "TestHostileTasks|TestAllowedIsBounded"}},
		"a task that is allowed is run",
		[]check{{"internal/worker", "TestHostileTasks"}},
		"",
	},
	{
		"S14", "A queue at rest holds no command, no value and no secret.",
		[]check{{"internal/queue/jetstream", "TestNothingAtRest"}},
		"the tickets that are to be there are found by the same search",
		[]check{{"internal/queue/jetstream", "TestNothingAtRest"}},
		"",
	},
}
