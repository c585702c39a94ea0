package hostile

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// answers are guests with invalid answers.
func answers() []Case {
	var all []Case
	add := func(name string, kind abi.Kind, request, result string, status int32, class abi.Class) {
		g := newGuest()
		g.Put(2048, []byte(result))
		g.handle(g.wrote(2048, int32(len(result)), status))
		c := g.ends(name, class)
		c.Kind, c.Payload, c.Output = kind, request, result
		all = append(all, c)
	}
	tool := func(name, result string, status int32) {
		add(name, abi.KindTool, "{}", result, status, abi.ClassAnswer)
	}
	tool("a status of 2", "{}", 2)
	tool("a status of -1", "{}", -1)
	tool("the lowest status", "{}", math.MinInt32)
	tool("nothing", "", 0)
	tool("half an object", `{"a":`, 0)
	tool("two objects", `{}{}`, 0)
	tool("not UTF-8", "\"\xff\"", 0)
	tool("not a number", "NaN", 0)
	tool("a zero byte", "{}\x00", 0)
	tool("twenty thousand brackets", strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000), 0)
	tool("no error body", "", 1)
	tool("an error that is not an object", `"sorry"`, 1)
	tool("an error without a code", `{"message":"m"}`, 1)
	tool("an error of an unknown code", `{"code":"root","message":"m"}`, 1)
	tool("an error that is half written", `{"code":"internal","mess`, 1)
	add("an error of the guest's", abi.KindTool, "{}", `{"code":"denied","message":"m"}`, 1, abi.ClassError)
	add("an unknown kind of request", 99, "{}", "{}", 0, abi.ClassAnswer)

	float := func(values ...float32) string {
		var out []byte
		for _, v := range values {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
		return string(out)
	}
	request := string(abi.AppendScoring(nil, abi.Scoring{Params: []byte("{}"), Candidates: 2, Columns: [][]float32{{1, 2}}}))
	score := func(name, result string, class abi.Class) { add(name, abi.KindScore, request, result, 0, class) }
	score("scores", float(2, 1), abi.ClassOK)
	score("a score too few", float(1), abi.ClassAnswer)
	score("a score too many", float(1, 2, 3), abi.ClassAnswer)
	score("a score that is not a number", float(1, float32(math.NaN())), abi.ClassAnswer)
	score("an infinite score", float(float32(math.Inf(-1)), 1), abi.ClassAnswer)
	score("no scores", "", abi.ClassAnswer)
	const texts = `{"texts":["a"],"purpose":"query","config":{}}`
	embed := func(name, result string) { add(name, abi.KindEmbed, texts, result, 0, abi.ClassAnswer) }
	embed("no vectors", "")
	embed("more vectors than bytes", string(words(1, 1<<32-1)))
	embed("vectors whose size wraps", string(words(1<<31, 1<<31)))
	embed("vectors of no dimensions for more texts", string(words(1<<32-1, 0)))
	embed("a vector that is not a number", string(words(1, 1))+float(float32(math.NaN())))
	long := newGuest()
	long.Put(0, []byte(strings.Repeat(" ", 60_000)))
	long.handle(asm.Drop(asm.Call(long.write, asm.I32(0), asm.I32(0), asm.I32(60_000))), long.wrote(0, 6_000, 1))
	longer := long.ends("an error beyond its size limit", abi.ClassAnswer)
	refused := newGuest()
	refused.handle(refused.fine())
	large := refused.ends("a request beyond its size limit", abi.ClassRequest)
	large.Payload, large.Limits = strings.Repeat(" ", 2000), abi.Limits{RequestBytes: 1000}
	return append(all, longer, large)
}
