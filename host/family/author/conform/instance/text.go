package instance

import (
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"
)

// words are of several scripts and lengths; some are what careless code stumbles over.
var words = []string{
	"tea", "plan", "the harbour at dawn", "0", "-1", "true", "null", "", " ", "a/b:c", "naïve café", "東京の茶", "مرحبا", "👩‍👩‍👧", "e\u0301", "\u202eevil", "\x00", "line\nbreak\ttab", `"quoted"\`, "<script>", "../../etc/passwd",
	"SELECT 1; --", "%s%n", "ﬁ", "İ", "ẞ",
}

func (g *Generator) word() string { return pick(g, words) }

// text generates a string for a property of that name.
func (g *Generator) text(s map[string]any, name string) string {
	if pattern, ok := s["pattern"].(string); ok {
		if out, ok := g.matching(pattern); ok {
			return out
		}
	}
	switch format, _ := s["format"].(string); format {
	case "date-time":
		return g.instant().Format(time.RFC3339)
	case "date":
		return g.instant().Format(time.DateOnly)
	case "uri":
		return "https://example.com/" + pick(g, []string{"", "a?b=c", "%20"})
	}
	if isName(name) && len(g.Names) > 0 && g.random.IntN(2) == 0 {
		return pick(g, g.Names)
	}
	fewest := min(int(numeric(s["minLength"], 0)), longestList<<10)
	most := int(numeric(s["maxLength"], float64(fewest+longestText)))
	out := []rune(g.word())
	for len(out) < fewest {
		out = append(out, []rune(pick(g, words)+"x")...)
	}
	if len(out) > most {
		out = out[:max(most, 0)]
	}
	return string(out)
}

// isName tells whether a property names memories.
func isName(property string) bool {
	p := strings.ToLower(property)
	return strings.HasSuffix(p, "key") || strings.HasSuffix(p, "keys") || strings.HasSuffix(p, "id") || strings.HasSuffix(p, "ids")
}

// instant is within some years of 2026.
func (g *Generator) instant() time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(g.random.IntN(4*365*24)-2*365*24) * time.Hour)
}

// matching generates a string that a pattern matches. Patterns that look around them, and so on, it cannot parse.
func (g *Generator) matching(pattern string) (string, bool) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var out strings.Builder
	g.match(&out, parsed.Simplify())
	return out.String(), true
}

func (g *Generator) match(out *strings.Builder, r *syntax.Regexp) {
	switch r.Op {
	case syntax.OpLiteral:
		out.WriteString(string(r.Rune))
	case syntax.OpCharClass:
		i := 2 * g.random.IntN(max(len(r.Rune)/2, 1))
		if i+1 < len(r.Rune) {
			low, high := r.Rune[i], min(r.Rune[i+1], r.Rune[i]+90)
			if c := low + rune(g.random.IntN(int(high-low)+1)); utf8.ValidRune(c) {
				out.WriteRune(c)
			}
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteRune(pick(g, []rune("a0 é-")))
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range r.Sub {
			g.match(out, sub)
		}
	case syntax.OpAlternate:
		g.match(out, pick(g, r.Sub))
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		g.repeat(out, r)
	}
}

func (g *Generator) repeat(out *strings.Builder, r *syntax.Regexp) {
	fewest, more := 0, 3
	switch r.Op {
	case syntax.OpPlus:
		fewest = 1
	case syntax.OpQuest:
		more = 1
	case syntax.OpRepeat:
		if fewest = r.Min; r.Max >= 0 {
			more = min(r.Max-r.Min, more)
		}
	}
	for range fewest + g.random.IntN(more+1) {
		g.match(out, r.Sub[0])
	}
}
