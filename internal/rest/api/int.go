package api

import (
	"math"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assay-run/assay"
)

// A Int is a whole number of a request. JSON has but one kind of number, so that 3.0 is 3.
type Int int64

// UnmarshalJSON implements [json.Unmarshaler].
func (w *Int) UnmarshalJSON(b []byte) error {
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		*w = Int(n)
		return nil
	}
	x, err := strconv.ParseFloat(string(b), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return assay.Errorf(assay.ClassUsage, "%.40s is not a whole number", b)
	}
	*w = Int(x)
	return nil
}

// Schema implements [huma.SchemaProvider].
func (Int) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
}
