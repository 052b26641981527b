package main

// A check is tests that hold a promise.
type check struct {
	pkg string // below the module's root
	run string // regular expression of the tests, for go test -run
}

// A promise is what users may rely on.
type promise struct {
	id, words string
	checks    []check
	// control is how the tests see that they would see a broken promise: the same with its protection taken away, which
	// must fail. If controls is empty it says why there is none.
	control  string
	controls []check
	// lacks is what is not tested, "" if nothing is known.
	lacks string
}

// promises is the table. A test of this package sees that every test there is.
var promises = []promise{
	{"P1", "A finished trial is never lost, whatever is killed at whatever instant.", []check{
		{"store/sqlite", "TestKill|TestKillGroup"},
		{"cmd/assay", "TestKill9"},
		{"worker", "TestKilled"},
		{"service", "TestKilled"},
		{"internal/server", "TestFleetKilled"},
	}, "who acknowledges a trial before it is on record loses it; the simulator's planted bugs (P18)", []check{
		{"store/sqlite", "TestKillControl"}, {"service", "TestKilledControl"}, {"queue", "TestSimulatorFindsFlaws"},
	}, ""},
	{"P2", "Nor is it lost by a power cut.", []check{
		{"store/sqlite", "TestPowerCut"}, {"internal/whole", "TestPowerCut"},
	}, "commits that do not wait for the disk, and files written in place, lose in 80 % of cuts or more", []check{
		{"store/sqlite", "TestPowerCut"}, {"internal/whole", "TestPowerCut"},
	}, ""},
	{"P3", "A full or failing disk ends assay cleanly and costs nothing that was finished.", []check{
		{"store/sqlite", "TestEachOperationFails|TestReserve|TestFull|TestReadOnly"},
		{"setup", "TestRoom|TestMostOutput"},
		{"cmd/assay", "TestDiskErrors"},
		{"queue", "TestRecordFails"},
		{"worker", "TestEachOperationOfTheSpoolFails"},
	}, "without the reserve the disk takes no result", []check{{"store/sqlite", "TestReserve"}}, ""},
	{"P4", "A study goes on where it stopped: nothing runs again, nothing is left out.", []check{
		{"study", "TestResumeAfterEveryEvent|TestKilledBehindEachEvent"},
		{"cmd/assay", "TestKilledEveryHalfSecond|TestResumeDoesNotSearchAgain"},
		{"search", "TestResume"},
	}, "a record without its results, and a searcher that goes on from elsewhere, do not pass; nor does any of six " +
		"flaws of memos", []check{
		{"study", "TestResumeControl"}, {"assaytest", "TestResumerFindsFaults"},
	}, ""},
	{"P5", "A trial counts once, whatever is delivered twice.", []check{
		{"queue", "TestSimulator"},
		{"study", "TestCutsAreRecordedOnce"},
		{"rest/api", "TestIdempotency|TestKeysSurviveARestart"},
	}, "the simulator's planted bugs (P18)", []check{{"queue", "TestSimulatorFindsFlaws"}}, ""},
	{
		"P6", "A worker that was frozen cannot overwrite newer work.",
		[]check{
			{"internal/server", "TestWorkersFrozen|TestWorkersCutOff"},
			{"queue", "TestFrozen|TestPartition|TestStaleOutcome|TestTaintedOutcomeDoesNotCount|TestHeardOfWhileAnotherIsLost"},
			{"store/postgres", "TestLeaseFrozen"},
		},
		"records in which an outcome counts twice, or is thrown away, are seen; the simulator's planted bugs (P18)",
		[]check{
			{"internal/server", "TestWorkersFrozen"}, {"queue", "TestSimulatorFindsFlaws"},
		},
		"",
	},
	{
		"P7", "Stopping a trial leaves nothing running, and nobody else is hit.",
		[]check{
			{"run", "TestHostileTreeLeavesNothing|TestForkBombEnds|TestSweepEndsWhatAKilledToolHasLeft|TestSweepSparesOthers"},
			{"cmd/assay", "TestScripts/interrupt"},
		},
		"a process of a dead tool is ended, those with forged markers are not",
		[]check{{"run", "TestSweepSparesOthers"}},
		"",
	},
	{"P8", "When the server starts again, runs that went on are taken up.", []check{
		{"service", "TestKilled"}, {"internal/server", "TestFleetKilled|TestReady|TestServerAway"},
	}, "an outcome that is acknowledged before it is on record is missed; so is a booking, or an end that is there " +
		"twice; without memos " +
		"searches are made again", []check{
		{"service", "TestKilledControl"},
		{"internal/server", "TestFleetKilled|TestReadyControl"},
	}, ""},
	{
		"P9", "Slurm may crash, requeue, forget or lie: the result stays right.",
		[]check{
			{"batch", "TestFaults|TestSaid|TestRealSlurm|TestEnds|TestBooked"}, {"cmd/assay", "TestSlurmExample"},
		},
		"without claims runs are made twice; who believes what Slurm says has wrong outcomes",
		[]check{{"batch", "TestSaid"}},
		"",
	},
	{
		"P10", "Assay is a polite guest of Slurm.",
		[]check{
			{"batch", "TestPolite|TestCommands"},
		},
		"a query in five seconds, ten jobs a second, and a command for each job are seen",
		[]check{{"batch", "TestPoliteControl"}},
		"",
	},
	{"P11", "A restart of the database or the queue is a pause, not a loss.", []check{
		{"store/postgres", "TestPostmasterKilled|TestCutReply|TestAway"}, {"queue/jetstream", "TestHarm|TestStartDamaged"},
	}, "a call that is made once fails, commits that do not wait are lost, an unknown outcome that is taken for none is " +
		"there twice, " +
		"what nobody offers again is never run", []check{
		{"store/postgres", "TestPostmasterKilledControl|TestCutReplyControl"}, {"queue/jetstream", "TestHarmControl"},
	}, ""},
	{
		"P12", "Many at once are fine.",
		[]check{
			{"store/sqlite", "TestProcesses|TestOpenAtOnce"},
			{"store/postgres", "TestManyClients"},
			{"queue", "TestLargeFleet"},
			{"internal/server", "TestWatchers"},
			{"online", "TestSessionIsBounded|TestJoinsAreBounded"},
			{"service", "TestManyStudies"},
			{"rest/api", "TestEventsFollowers"},
		},
		"who goes on from where a study was before another wrote is refused",
		[]check{{"store/sqlite", "TestProcessesOfOneStudy"}},
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
			{"worker", "TestWatch|TestTainted"},
			{"study", "TestClockJumps"},
			{"queue", "TestClockJumps|TestWorkersClocks|TestServerFrozen|TestSimulator"},
			{"online", "TestClockJumps"},
			{"internal/term", "TestStatusSurvivesAClockThatGoesBack"},
		},
		"a program that goes by what the clock shows comes to something else; a run that was not stopped is not given up",
		[]check{
			{"study", "TestClockJumps"}, {"queue", "TestClockJumps"}, {"online", "TestClockJumps"}, {"run", "TestAwake"},
		},
		"",
	},
	{"P15", "A damaged file is seen, named, and mostly saved.", []check{
		{"store/sqlite", "TestDamage|TestDamagedLog|TestLogWithoutFile|TestCopyDamaged|TestMark"},
		{"cmd/assay", "TestScripts/salvage"},
		{"cmd/assay", "TestScripts/salvage_log"},
		{"internal/blobs", "TestDamaged|TestCacheDamaged"},
	}, "a store without damage is whole, and bits that nobody reads harm nothing: what is reported is damage", []check{
		{"store/sqlite", "TestDamage$|TestMarkRefusesNothingWhole"},
	}, ""},
	{"P16", "What is unknown is never called a success.", []check{
		{"queue", "TestSimulator|TestStaleOutcome"},
		{"study", "TestExhaustedMachineEndsTheStudy|TestMissingMetricFailsTheTrial|TestExitCodeFailsTheTrial"},
	}, "the simulator's planted bugs (P18)", []check{{"queue", "TestSimulatorFindsFlaws"}}, ""},
	{"P17", "An update is safe: older stores are read, newer ones refused.", []check{
		{"store/sqlite", "TestFixtures|TestMigrat"}, {"search", "TestResumeOldRecord"}, {"setup", "TestOldStores"},
	}, "a study of another seed does not go on", []check{{"setup", "TestOldStores"}}, ""},
	{"P18", "All of this holds together under every order of events that the simulator draws.", []check{
		{"queue", "TestSimulator|TestSimulatorFindsFlaws|TestSimulatorRepeats"},
	}, "each of the planted bugs is found", []check{{"queue", "TestSimulatorFindsFlaws"}}, ""},
	{"S1", "Nothing is open to the network unless you say so.", []check{
		{"cmd/assay", "TestScripts/server_badinput"}, {"rest", "TestStrangers"}, {"cmd/assay", "TestScripts/strangers"},
	}, "a socket of another program on all addresses is seen", []check{{"cmd/assay", "TestScripts/strangers"}}, ""},
	{
		"S2", "No action without the right to it.",
		[]check{{"rest/api", "TestMatrix|TestEveryRouteHasARow|TestScope|TestExecutes"}},
		"a route without a row fails",
		[]check{{"rest/api", "TestEveryRouteHasARow"}},
		"",
	},
	{"S3", "A web page that you visit cannot drive assay.", []check{
		{"rest/api", "TestHosts|TestOrigins"}, {"rest", "TestBadRequests"},
	}, "behind a proxy that hides the name and the origin of requests all of them get through", []check{
		{"rest/api", "TestPagesControl"},
	}, ""},
	{
		"S4", "Other users of a machine cannot use it.",
		[]check{{"cmd/assay", "TestScripts/strangers"}, {"rest", "TestStrangers"}},
		"a file that is for all can be read by the other user",
		[]check{{"cmd/assay", "TestScripts/strangers"}},
		"without root, which it takes to be another user",
	},
	{"S5", "A parameter's value is data.", []check{
		{"setup", "TestValuesAreData"},
		{"spec", "TestValueIsData"},
		{"worker", "TestHostileTasks"},
		{"internal/web", "TestHostileForms"},
	}, "a command that is made a line for a shell executes a value", []check{{"setup", "TestValuesAreDataControl"}}, ""},
	{"S6", "Files of runs stay in their box.", []check{
		{"internal/blobs", "TestPlaceHostileNames|TestNames"}, {"run", "TestFiles"},
	}, "who writes to where a name leads writes outside", []check{{"internal/blobs", "TestPlaceHostileNamesControl"}}, ""},
	{"S7", "Bombs are refused early.", []check{
		{"rest/api", "TestBombs"},
		{"spec", "TestBombs"},
		{"workflow/trace", "TestGzipBomb"},
		{"internal/whole", "TestReadIsBounded"},
	}, "a log that packs well is read", []check{{"workflow/trace", "TestGzipBomb"}}, ""},
	{
		"S8", "Secrets do not leak.",
		[]check{
			{"internal/access", "TestConceal"},
			{"rest/api", "TestQueries"},
			{"run", "TestSecrets"},
			{"spec", "TestSecrets"},
			{"cmd/assay", "TestScripts/strangers"},
		},
		"a file with the value is found",
		[]check{{"cmd/assay", "TestScripts/strangers"}},
		"",
	},
	{"S9", "A worker can do its job and nothing else.", []check{
		{"queue/jetstream", "TestDoor|TestForbidden|TestRevoke"},
		{"internal/access", "TestReplacedTokenIsCutOff"},
		{"rest/api", "TestWorkersBlobs"},
	}, "the door of the server's own user lets everything through; so does a server that looks at no application", []check{
		{"queue/jetstream", "TestForbiddenControl"},
	}, ""},
	{
		"S10", "A server and a study call nobody.",
		[]check{{"cmd/assay", "TestScripts/strangers"}},
		"a datagram of another program is seen",
		[]check{{"cmd/assay", "TestScripts/strangers"}},
		"",
	},
	{
		"S11", "Readers hold, whatever they are given.",
		[]check{
			{"workflow/trace", "^FuzzRead"}, // WfFormat, DAGMan, Nextflow, Snakemake, tables of tasks
			{"workflow", "^FuzzReadCalibration"},
			{"table", "^FuzzReadTable"},
			{"examples/schedsim", "^FuzzReadLog"},
			{"spec", "^Fuzz"},
			{"internal/expr", "^Fuzz"},
			{"internal/rfs", "^FuzzRequest|^FuzzReply"},
			{"rest", "^FuzzServer"},
			{"costmodel", "^FuzzModelJSON|^FuzzReadMachine"},
			{"internal/result", "^FuzzOptuna"},
			{"store/mirror", "^FuzzRecords"},
			{"store/sqlite", "^Fuzz"},
			{"run", "^Fuzz"},
			{"batch", "^Fuzz"},
			{"rest/api", "^Fuzz"},
			{"queue/jetstream", "^Fuzz"},
		},
		"none: a reader that panics ends its own test", nil, "this runs the seeds; `make fuzz` searches",
	},
	{"S12", "Guessing a token is useless, and a want of descriptors ends nothing.", []check{
		{"internal/access", "TestBruteForce"}, {"rest/api", "TestWrongTokens"}, {"rest", "TestStrangers|TestNoDescriptors"},
	}, "tokens that wait for nothing, connections that nobody closes, and an error that ends a server are seen", []check{
		{"internal/access", "TestBruteForceControl"},
		{"rest/api", "TestWrongTokensControl"},
		{"rest", "TestStrangersControl|TestNoDescriptorsControl"},
	}, ""},
	{
		"S13", "A server cannot have a worker run what the worker's own file does not allow.",
		[]check{{"worker", "TestHostileTasks|TestAllowedIsBounded"}},
		"a task that is allowed is run",
		[]check{{"worker", "TestHostileTasks"}},
		"",
	},
	{
		"S14", "A queue at rest holds no command, no value and no secret.",
		[]check{{"queue/jetstream", "TestNothingAtRest"}},
		"the tickets that are to be there are found by the same search",
		[]check{{"queue/jetstream", "TestNothingAtRest"}},
		"",
	},
}
