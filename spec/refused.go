package spec

import (
	"reflect"
	"slices"

	"github.com/assay-run/assay"
)

// carried are the fields of a job that run nothing and open nothing by themselves.
var carried = []string{"ID", "Config", "Interval", "Limit", "Grace", "Warmup", "Metrics", "Priority", "Live"}

// Refused returns the key that a job of an application was filled by although its worker's file of applications decides
// it, or "": all that runs, reads or writes something. Metrics are for the worker to look at.
func Refused(j assay.Job) string {
	v := reflect.ValueOf(j)
	for i := range allKeys {
		for _, field := range allKeys[i].Job {
			if f := v.FieldByName(field); !f.IsZero() && (!empties(f) || f.Len() > 0) {
				return allKeys[i].Path
			}
		}
	}
	return ""
}

// empties reports whether a value has a length.
func empties(v reflect.Value) bool {
	return slices.Contains([]reflect.Kind{reflect.Slice, reflect.Map}, v.Kind())
}
