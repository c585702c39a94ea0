package modules

import "testing"

func TestOnlyNamesOfModulesAreNamesOfModules(t *testing.T) {
	digest := Digest(nil)
	for name, want := range map[string]bool{
		"families/" + digest + ".wasm": true, "families/approved/" + digest + ".wasm": true,
		"families/" + digest: false, digest + ".wasm": false, "families/approved/../" + digest + ".wasm": false, "families/x.wasm": false,
		"families/approved/approved/" + digest + ".wasm": false, "/families/" + digest + ".wasm": false, "families//" + digest + ".wasm": false,
		"families/" + "E3" + digest[2:] + ".wasm": false, "": false,
	} {
		if _, ok := ModuleName(name); ok != want {
			t.Errorf("ModuleName(%q) = %t, want %t", name, ok, want)
		}
	}
}
