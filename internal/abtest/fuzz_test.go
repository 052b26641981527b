package abtest

import (
	"bytes"
	"math"
	"testing"

	"github.com/assay-run/assay"
)

// Columns are equally long and of finite numbers, or the input is refused with its place.
func FuzzReadColumns(f *testing.F) {
	for _, s := range []string{"1 2\n3,4\n", "# x\n1", "1;;2\n", "nan", "1e999", "1 2\n3", ";"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		columns, err := ReadColumns("in", bytes.NewReader(b))
		if err != nil {
			if assay.ClassOf(err) != assay.ClassUsage {
				t.Error(err)
			}
			return
		}
		for _, c := range columns {
			if len(c) != len(columns[0]) || len(c) == 0 {
				t.Errorf("columns of %d and %d numbers", len(c), len(columns[0]))
			}
			for _, x := range c {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("%v", x)
				}
			}
		}
	})
}
