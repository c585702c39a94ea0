package gen

import "strings"

// ofField is a field's comment as a description: `Limit is how many` is `How many`, and `Limit of all pages` stays.
func ofField(text, name string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, verb := range []string{" is ", " are "} {
		if rest, ok := strings.CutPrefix(text, name+verb); ok {
			return upper(rest)
		}
	}
	return upper(text)
}

// asWritten is the description of a field. One that begins with a value of its enum has that as it is written.
func (o options) asWritten(text string) string {
	for _, value := range o.enum {
		if rest, ok := strings.CutPrefix(text, upper(value)+" "); ok {
			return value + " " + rest
		}
	}
	return text
}
