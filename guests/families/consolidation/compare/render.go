package compare

import (
	"bytes"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// maxText is how much of a value is compared, in bytes.
const maxText = 4 << 10

// Render is a JSON value as text: a string as it is, of anything else a line for each value with the names that lead to
// it, so that {"port": 80} and {"port": 81} are not the same.
func Render(value []byte) string {
	s := scan.New(value)
	if bytes.HasPrefix(bytes.TrimSpace(value), []byte(`"`)) {
		return words.Cut(s.String(), maxText)
	}
	var out strings.Builder
	render(s, value, "", &out)
	return words.Cut(out.String(), maxText)
}

func render(s *scan.Scanner, value []byte, path string, out *strings.Builder) {
	value = bytes.TrimSpace(value)
	switch {
	case len(value) == 0 || out.Len() > maxText:
		s.Skip()
	case value[0] == '{':
		for key := range s.Fields() {
			raw := s.Raw()
			render(scan.New(raw), raw, strings.TrimSpace(path+" "+key), out)
		}
	case value[0] == '[':
		for range s.Elements() {
			raw := s.Raw()
			render(scan.New(raw), raw, path, out)
		}
	default:
		text := string(value)
		if value[0] == '"' {
			text = s.String()
		}
		if path != "" {
			text = path + ": " + text
		}
		out.WriteString(text + "\n")
	}
}
