package hostile

import (
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// manifests are modules with an invalid manifest.
func manifests() []Case {
	var all []Case
	add := func(name string, class abi.Class, sections ...string) {
		g := newGuest()
		for _, s := range sections {
			g.Custom(abi.Section, []byte(s))
		}
		g.handle(g.fine())
		c := g.ends(name, class)
		c.Packed = true
		all = append(all, c)
	}
	const head = `"abi":1,"name":"x","version":"1.0.0","description":"A family"`
	const good = `{` + head + `}`
	with := func(name, more string) { add(name, abi.ClassManifest, `{`+head+`,`+more+`}`) }
	tool := func(name, schema string) {
		with(name, `"tools":[{"name":"t","description":"d","input_schema":`+schema+`}]`)
	}
	deep := strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000)
	add("a good one", abi.ClassOK, good)
	add("none", abi.ClassManifest)
	add("two", abi.ClassManifest, good, good)
	add("an empty one", abi.ClassManifest, "")
	add("no JSON", abi.ClassManifest, "name: x")
	add("something behind it", abi.ClassManifest, good+good)
	add("a byte order mark", abi.ClassManifest, "\xef\xbb\xbf"+good)
	add("not UTF-8", abi.ClassManifest, strings.Replace(good, "A family", "\xff\xfe", 1))
	add("a list", abi.ClassManifest, "["+good+"]")
	add("null", abi.ClassManifest, "null")
	add("five thousand brackets", abi.ClassManifest, deep)
	add("a million brackets", abi.ClassManifest, strings.Repeat("[", 1_000_000))
	add("too many bytes", abi.ClassManifest, good+strings.Repeat(" ", 300_000))
	add("a name twice", abi.ClassManifest, `{`+head+`,"name":"y"}`)
	add("a name twice, in other letters", abi.ClassManifest, `{`+head+`,"NAME":"y"}`)
	add("a later version", abi.ClassManifest, strings.Replace(good, `"abi":1`, `"abi":2`, 1))
	add("a name with a slash", abi.ClassManifest, strings.Replace(good, `"x"`, `"../x"`, 1))
	add("a name with a line end", abi.ClassManifest, strings.Replace(good, `"x"`, `"x\ny"`, 1))
	add("a number that overflows", abi.ClassManifest, `{`+head+`,"limits":{"fuel":1e400}}`)
	with("an unknown field", `"grants":["*"]`)
	with("more than there can be", `"limits":{"memory_pages":65536}`)
	with("a limit that wraps", `"limits":{"fuel":18446744073709551617}`)
	with("a limit below zero", `"limits":{"wall_ms":-1}`)
	with("a power that there is not", `"capabilities":[{"name":"admin","reason":"r"}]`)
	with("a power without a scope", `"capabilities":[{"name":"http","reason":"r"}]`)
	with("a thousand tools", `"tools":[`+strings.TrimSuffix(strings.Repeat(`{"name":"t","description":"d","input_schema":{"type":"object"}},`, 1000), ",")+`]`)
	with("a tool twice", `"tools":[`+strings.Repeat(`{"name":"t","description":"d","input_schema":{"type":"object"}},`, 1)+`{"name":"t","description":"d","input_schema":{"type":"object"}}]`)
	tool("a schema that is none", `{"type":"object","properties":5}`)
	tool("a schema from a file", `{"type":"object","$ref":"file:///etc/passwd"}`)
	tool("a schema from the network", `{"type":"object","$ref":"http://127.0.0.1:9/schema.json"}`)
	tool("a schema that refers to what there is not", `{"type":"object","$ref":"#/$defs/nothing"}`)
	tool("a schema with a pattern that is none", `{"type":"object","properties":{"a":{"pattern":"("}}}`)
	tool("a schema of a meta-schema from the network", `{"$schema":"http://127.0.0.1:9/schema","type":"object"}`)
	first := Case{Name: "a good one before all else", Packed: true, Class: abi.ClassOK}
	content := append(wasm.AppendName(nil, abi.Section), good...)
	first.Module = append([]byte(preamble), append(section(0, content...), plain()[len(preamble):]...)...)
	return append(all, first)
}
