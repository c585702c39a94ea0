// Package tracestest encodes texts as guests may, for tests that look for copies of them.
package tracestest

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
)

// JSON writes a text as a JSON string.
func JSON(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// ascii is the same with escapes for everything beyond ASCII.
func ascii(text string) string {
	var out strings.Builder
	for _, r := range JSON(text) {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04X\u%04X`, high, low)
		}
	}
	return out.String()
}

// Encodings are the ways in which a guest may keep a text within a JSON string, by what they are called in a failure.
func Encodings() map[string]func(text string) string {
	return map[string]func(text string) string{
		"as it is":            func(text string) string { return text },
		"JSON":                JSON,
		"JSON twice":          func(text string) string { return JSON(JSON(text)) },
		"JSON three times":    func(text string) string { return JSON(JSON(JSON(text))) },
		"a member":            func(text string) string { return `{"kept":` + JSON(text) + `}` },
		"ASCII escapes":       ascii,
		"ASCII escapes twice": func(text string) string { return ascii(ascii(text)) },
		"escapes of programs": strconv.QuoteToASCII,
		"HTML":                html.EscapeString,
		"HTML twice":          func(text string) string { return html.EscapeString(html.EscapeString(text)) },
		"URL query":           url.QueryEscape,
		"URL path":            url.PathEscape,
		"base64":              func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) },
		"base64 for URLs":     func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) },
		"base64 of JSON":      func(text string) string { return base64.StdEncoding.EncodeToString([]byte(`[` + JSON(text) + `]`)) },
		"JSON of base64":      func(text string) string { return JSON(base64.StdEncoding.EncodeToString([]byte(text))) },
		"base64 in a line": func(text string) string {
			return "kept/" + base64.StdEncoding.EncodeToString([]byte("x"+text)) + ", see there"
		},
		"base64 in lines": func(text string) string {
			var lines strings.Builder
			for i, c := range base64.StdEncoding.EncodeToString([]byte(text)) {
				if i > 0 && i%12 == 0 {
					lines.WriteString("\r\n")
				}
				lines.WriteRune(c)
			}
			return lines.String()
		},
		"hexadecimal": func(text string) string { return hex.EncodeToString([]byte(text)) },
		"HEXADECIMAL": func(text string) string { return strings.ToUpper(hex.EncodeToString([]byte(text))) },
	}
}
