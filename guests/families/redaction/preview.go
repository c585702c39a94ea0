package redaction

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/secrets"
)

// RedactPreview shows what would be replaced in a text: the kinds and places of its secrets, and the text without them. Nothing is stored. The
// settings leave_kinds, leave_texts and mark count, redact does not.
//
//alcove:description Would a text leak a password or key? Show what redaction would replace: kinds and places, not values.
//alcove:tool read-only idempotent
//alcove:title Preview redaction
type RedactPreview struct {
	Text string `alcove:"required,writeonly,max=131072"`
}

// Previewed is what would be replaced in a text.
type Previewed struct {
	Secrets []Place
	Text    string // The text as it would be stored.
}

// Place is where a secret is.
type Place struct {
	Kind  string
	Line  int // From 1.
	Start int // Of the text, in bytes.
	End   int
}

// Call finds them.
func (in RedactPreview) Call(_ *alcove.Call, cfg Config) (out Previewed, err error) {
	r := cfg.redactor()
	if out.Text, _, err = r.Redact("", in.Text); err != nil {
		return out, alcove.Errorf(alcove.InvalidArgument, "the text cannot be redacted: %v", err)
	}
	found, err := secrets.Find(in.Text)
	if err != nil {
		return out, alcove.Errorf(alcove.InvalidArgument, "the text cannot be redacted: %v", err)
	}
	line, at := 1, 0
	for _, x := range found {
		for ; at < x.Start; at++ {
			if in.Text[at] == '\n' {
				line++
			}
		}
		if !r.Leave(x.Kind, in.Text[x.Start:x.End]) {
			out.Secrets = append(out.Secrets, Place{string(x.Kind), line, x.Start, x.End})
		}
	}
	return out, nil
}
