package sandbox

import (
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/asm"
	"github.com/alcove-memory/alcove/host/testing/must"
)

func TestAManifestIsReadWithoutTheRestOfTheModule(t *testing.T) {
	module, err := Pack(testdata(t, "guests/wat.wasm"), []byte(`{"abi":1,"name":"asks","version":"1.0.0","description":"Asks."}`))
	must.Do(t, err)
	m, err := ReadManifest(module)
	if err != nil || m.Name != "asks" {
		t.Errorf("ReadManifest = %+v, %v, want the family asks", m, err)
	}
	for n := range len(module) - 1 { // a truncated module is never read beyond its end
		if m, err := ReadManifest(module[:n]); err == nil {
			t.Fatalf("%d of %d bytes have the manifest %+v", n, len(module), m)
		}
	}
	plain := &asm.Module{}
	if _, err := ReadManifest(plain.Bytes()); err == nil || !strings.Contains(err.Error(), "alcove family pack") {
		t.Errorf("without a manifest: %v", err)
	}
}

func FuzzReadManifest(f *testing.F) {
	module, err := Pack(testdata(f, "guests/wat.wasm"), []byte(`{"abi":1,"name":"asks","version":"1.0.0","description":"Asks."}`))
	must.Do(f, err)
	f.Add(module)
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x00\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := ReadManifest(data); err == nil && m.Name == "" {
			t.Error("a manifest without a name")
		}
	})
}
