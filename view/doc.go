// Package view defines how studies look from outside this process: the only representations of a study
// and its trials in `--json`, in the interface of a server, in the data of pages, in exports and in
// clients. Their JSON is a contract; docs/adr/0030-view.md lists its words.
//
// A view is made of the projection of the root package: [assay.Table] for many trials, [assay.Trial] for
// one. Values are shown as the metric is measured, not as it is minimized.
package view
