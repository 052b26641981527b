package view

import (
	"encoding/json"
	"math"
	"strconv"
)

// Numbers are numbers of which some may be missing: NaN, null in JSON.
type Numbers []float64

// MarshalJSON implements [json.Marshaler].
func (n Numbers) MarshalJSON() ([]byte, error) {
	b := make([]byte, 1, 2+12*len(n))
	b[0] = '['
	for i, x := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, x)
	}
	return append(b, ']'), nil
}

// appendNumber appends a number as JSON has it, null if it is not finite.
func appendNumber(b []byte, x float64) []byte {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return append(b, "null"...)
	case x == math.Trunc(x) && math.Abs(x) < 1<<53:
		return strconv.AppendInt(b, int64(x), 10)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Numbers) UnmarshalJSON(b []byte) error {
	var list []*float64
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*n = make(Numbers, len(list))
	for i, x := range list {
		if (*n)[i] = math.NaN(); x != nil {
			(*n)[i] = *x
		}
	}
	return nil
}

// Values are values of one parameter: a number, a text or a truth; nil, null in JSON, where it is not in force.
type Values []any

// MarshalJSON implements [json.Marshaler].
func (v Values) MarshalJSON() ([]byte, error) {
	b := make([]byte, 1, 2+8*len(v))
	b[0] = '['
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		switch x := x.(type) {
		case nil:
			b = append(b, "null"...)
		case int64:
			b = strconv.AppendInt(b, x, 10)
		case bool:
			b = strconv.AppendBool(b, x)
		default:
			text, err := json.Marshal(x)
			if err != nil {
				return nil, err
			}
			b = append(b, text...)
		}
	}
	return append(b, ']'), nil
}

// Finite returns a pointer to x, nil if x is not finite.
func Finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
