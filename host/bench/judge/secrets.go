package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alcove-memory/alcove/sdk/secrets"
)

// labelledSecret is a text and the secret in it; empty: there is none, though it looks so.
type labelledSecret struct{ Text, Secret string }

// judgeSecrets redacts the texts of files, one JSON value a line, and prints how many secrets are gone and how many other texts changed. It asks
// no server: a file may be of any size. What it got wrong is printed if that is asked for.
func judgeSecrets(w io.Writer, paths []string, wrong bool) error {
	if len(paths) == 0 {
		return errors.New(`name a file of lines such as {"text": "the PIN is 4711", "secret": "4711"}`)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read labels: %w", err)
		}
		list, err := parse[labelledSecret](path, data)
		if err != nil {
			return err
		}
		found, kept, err := redacted(list, func(what string, l labelledSecret, out string) {
			if wrong {
				fmt.Fprintf(w, "%s %q\n\tbecame %q\n", what, l.Text, out)
			}
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n  secrets found    %v\n  no false alarm   %v\n", path, found, kept)
	}
	return nil
}

// redacted counts the secrets that are gone from their texts as a whole, and the texts without one that did not change.
func redacted(list []labelledSecret, wrong func(what string, l labelledSecret, out string)) (found, kept share, err error) {
	for _, l := range list {
		out, _, err := secrets.Redact(l.Text)
		if err != nil {
			return found, kept, fmt.Errorf("redact %.60q: %w", l.Text, err)
		}
		if l.Secret == "" {
			if kept.add(out == l.Text); out != l.Text {
				wrong("false", l, out)
			}
			continue
		}
		isGone := !strings.Contains(out, l.Secret) && !sharesPart(out, l.Secret)
		if found.add(isGone); !isGone {
			wrong("missed", l, out)
		}
	}
	return found, kept, nil
}

// leastPart is how many bytes of the end of a long secret may be left at most.
const leastPart = 8

// sharesPart reports whether a text still has the end of a secret.
func sharesPart(text, secret string) bool {
	return len(secret) >= 2*leastPart && !strings.HasSuffix(secret, "-----") && strings.Contains(text, secret[len(secret)-leastPart:])
}
