package mcp

import "testing"

func TestStatusSaysWhereOneIsAndWhatIsThere(t *testing.T) {
	p := use(t)
	p.must("memory_store", `{"key":"k","value":1}`)
	p.must("memory_log", `{"event":"e","data":1}`)
	o := p.must("memory_status", `{}`)
	for name, want := range map[string]string{
		"version": `"1.2.3"`, "branch": `"default"`, "namespace": `"default"`, "auto_embed": "false", "branches": "1", "keys": "1", "events": "1",
		"health": `"ok"`,
	} {
		if got := o.field(name); got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
	if got := p.must("memory_status", `{"namespace":"elsewhere"}`).field("keys"); got != "0" {
		t.Errorf("another namespace has %s keys", got)
	}
	if got := p.must("memory_status", `null`).field("keys"); got != "1" {
		t.Errorf("without arguments there are %s keys", got)
	}
}
