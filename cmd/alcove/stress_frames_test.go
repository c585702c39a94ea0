package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// frames makes messages that no client sends by design, from those that clients do send.
type frames struct{ *rand.Rand }

func oneOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// honest is a message as clients send it.
func (f frames) honest() string {
	call := func(tool, arguments string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, f.IntN(1000), tool, arguments)
	}
	return oneOf(f.Rand,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"two","method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"no more"}}`,
		`{"jsonrpc":"2.0","id":4,"result":{}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"memory_status","arguments":{},`+modernMeta+`}}`,
		call("memory_store", `{"key":"fuzz","value":{"a":[1,2.5e3,"\u00e4\ud83d\ude00"]},"tags":["x"],"namespace":"fuzz"}`),
		call("memory_store", `{"items":[{"key":"f1","value":1},{"key":"f2","value":"two"}],"namespace":"fuzz"}`),
		call("memory_recall", `{"key":"fuzz","namespace":"fuzz","as_of":"1h ago"}`),
		call("memory_search", `{"query":"anything at all","k":5,"namespace":"fuzz"}`),
		call("memory_forget", `{"key":["fuzz","f1"],"namespace":"fuzz"}`),
		call("memory_log", `{"event":"fuzzed","data":{"n":1},"namespace":"fuzz"}`),
		call("memory_branch", `{"action":"fork","name":"fuzz"}`),
		call("memory_branch", `{"action":"merge","source":"fuzz","strategy":"newest","preview":true}`),
		call("memory_branch", `{"action":"delete","name":"fuzz","force":true}`),
		call("memory_history", `{"key":"fuzz","limit":5,"namespace":"fuzz"}`),
		call("memory_operation", `{"method":"memory_status","params":{},"options":{"timeout_ms":50}}`),
		call("memory_capabilities", `{"include_schema":true}`),
	)
}

// depth is how deep a frame is nested: seldom absurdly.
func (f frames) depth() int { return oneOf(f.Rand, 3, 100, 513, 600, 5_000, 100_000) }

// odd is a message that was changed.
func (f frames) odd() []byte {
	m := f.honest()
	at := f.IntN(len(m))
	switch f.IntN(16) {
	case 0:
		return []byte(m)
	case 1: // cut off
		return []byte(m[:at])
	case 2: // a bit flipped, but none that makes a line of it two
		b := []byte(m)
		if b[at] ^= 1 << f.IntN(8); b[at] == '\n' {
			b[at] = 0
		}
		return b
	case 3: // a member twice
		return []byte(strings.Replace(m, `"jsonrpc"`, oneOf(f.Rand, `"id":77,"jsonrpc"`, `"ID":78,"jsonrpc"`, `"method":"ping","jsonrpc"`, `"params":[],"jsonrpc"`, `"\u0069d":79,"jsonrpc"`), 1))
	case 4: // an id that is none
		return []byte(strings.Replace(m, `"jsonrpc"`, `"id":`+oneOf(f.Rand, "1e999", "-0", "1.5", "null", "true", "{}", "[1]", `""`, `"`+strings.Repeat("i", 100_000)+`"`, strings.Repeat("9", 10_000))+`,"jsonrpc"`, 1))
	case 5: // deep
		n := f.depth()
		return []byte(strings.Replace(m, `"params":{`, `"params":{"deep":`+nested(n)+`,`, 1))
	case 6: // deep in an argument
		n := f.depth()
		return []byte(strings.Replace(m, `"arguments":{`, `"arguments":{"value":`+strings.Repeat(`{"a":`, n)+"1"+strings.Repeat("}", n)+",", 1))
	case 7: // brackets that never close
		return []byte(strings.Repeat(oneOf(f.Rand, "[", `{"a":`, `[{"b":`), f.depth()))
	case 8: // batches
		return []byte("[" + strings.Repeat(m+",", f.IntN(50)) + m + "]")
	case 9: // bytes from elsewhere
		return bytes.Join([][]byte{[]byte(m[:at]), oneOf(f.Rand, []byte{0}, []byte{0xff, 0xfe}, []byte("\u2028"), []byte(`\ud800`), []byte("\r")), []byte(m[at:])}, nil)
	case 10: // of another kind
		return []byte(oneOf(f.Rand, "", " ", "null", "42", `"text"`, "[]", "{}", "GET / HTTP/1.1", `{"jsonrpc":"1.0","id":1}`, `{"jsonrpc":"2.0"}`, `{"alcove":1}`))
	case 11: // another method
		return []byte(strings.Replace(m, `"method":"`, `"method":"`+oneOf(f.Rand, "x", "", "rpc.", "\\u0000", strings.Repeat("m", 70_000)), 1))
	case 12: // another tool
		return []byte(strings.Replace(m, `"name":"`, `"name":"`+oneOf(f.Rand, "x", "../", "memory_", "verify", strings.Repeat("n", 70_000)), 1))
	case 13: // another type
		return []byte(strings.Replace(m, `"arguments":{`, `"arguments":`+oneOf(f.Rand, "[", "7", `"`, "null{", "{{"), 1))
	case 14: // numbers beyond all numbers
		return []byte(strings.NewReplacer(":5", ":1e400", ":1", ":-99999999999999999999").Replace(m))
	default: // members moved about
		parts := strings.Split(m, ",")
		f.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		return []byte(strings.Join(parts, ","))
	}
}

// line is an odd message on a line of its own.
func (f frames) line() []byte { return append(bytes.ReplaceAll(f.odd(), []byte("\n"), nil), '\n') }
