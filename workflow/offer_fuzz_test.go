package workflow

import "testing"

// Offers are read with prices that can be asked, or refused.
func FuzzReadOffers(f *testing.F) {
	f.Add([]byte(`[{"name":"a","price":"1/h","machines":[{"count":2}]}]`), "1")
	f.Add([]byte("# x\na 1\nb 2/h\n"), "")
	f.Add([]byte("[]"), "x")
	f.Fuzz(func(t *testing.T, b []byte, fallback string) {
		for _, read := range []func() ([]Offer, error){
			func() ([]Offer, error) { return ReadOffers("in", b, fallback) },
			func() ([]Offer, error) { return ReadPrices("in", b) },
		} {
			if all, err := read(); err == nil && len(all) == 0 {
				t.Error("no offers and no error")
			}
		}
	})
}
