package bolt

import "testing"

// BenchmarkMayWrite is what a group of commits pays, beside its sync, for knowing that its file is still there.
func BenchmarkMayWrite(b *testing.B) {
	e, err := Open(b.Context(), b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for b.Loop() {
		if err := e.mayWrite(); err != nil {
			b.Fatal(err)
		}
		if err := e.mayAcknowledge(int(e.open.txid)); err != nil {
			b.Fatal(err)
		}
	}
}
