package declare

import (
	"slices"
	"strings"
)

// OfField is a field's comment as a description: `Limit is how many` is `How many`, and `Limit of all pages` stays.
func OfField(text, name string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, verb := range []string{" is ", " are "} {
		if rest, ok := strings.CutPrefix(text, name+verb); ok {
			return Upper(rest)
		}
	}
	return Upper(text)
}

// AsWritten is the description of a field. One that begins with a value of its enum has that as it is written.
func (o Options) AsWritten(text string) string {
	for _, value := range o.Enum {
		if rest, ok := strings.CutPrefix(text, Upper(value)+" "); ok {
			return value + " " + rest
		}
	}
	return text
}

// Described is a comment as a description, its first sentence, and what follows as docs. The name that it begins with goes. A directive
// description replaces the sentence.
func Described(text, name string, said []Directive) (description, docs string) {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, "\n\n")
	first = oneLine(first, name)
	if i := strings.Index(first, ". "); i > 0 {
		first, rest = first[:i+1], first[i+2:]+"\n\n"+rest
	}
	var paragraphs []string
	for _, p := range strings.Split(rest, "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			paragraphs = append(paragraphs, p)
		}
	}
	if d, ok := Find(said, "description"); ok {
		first = d.Rest
	}
	return first, strings.Join(paragraphs, "\n\n")
}

// oneLine is a comment as a description: without the name of what it describes. Before an article it is a verb.
func oneLine(text, name string) string {
	text = strings.Join(strings.Fields(text), " ")
	next, _, _ := strings.Cut(strings.TrimPrefix(text, name+" "), " ")
	if rest, ok := strings.CutPrefix(text, name+" "); ok && !slices.Contains([]string{"a", "an", "the"}, next) {
		for _, verb := range []string{"is ", "are "} {
			rest = strings.TrimPrefix(rest, verb)
		}
		text = rest
	}
	return Upper(text)
}

// Upper is a text with a capital at its beginning.
func Upper(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}
