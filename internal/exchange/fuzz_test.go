package exchange

import "testing"

// The output of a program about its settings is read as settings with names, or nothing.
func FuzzRead(f *testing.F) {
	f.Add("name,setting,unit,category,short_desc,context,vartype,min_val,max_val,enumvals,boot_val\n")
	f.Add("  -fno-x  Do not\n  -mllvm <value>\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, _ := readPostgreSQL(text)
		for _, s := range append(all, readClang(text)...) {
			if s.Name == "" {
				t.Errorf("%+v", s)
			}
		}
	})
}
