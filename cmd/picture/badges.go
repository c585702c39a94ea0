package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// badge is a name with its value.
type badge struct{ name, value string }

// badgesOf reads what the badges say from the files of the repository that decide it.
func badgesOf(root string) ([]badge, error) {
	license, err := found(root, "LICENSE", `(?m)^\s*(Apache License)\s*$`)
	mod, errMod := found(root, "go.mod", `(?m)^go (\d+\.\d+)`)
	platforms, errMake := found(root, "Makefile", `(?m)^PLATFORMS := (.*)$`)
	version, errVersion := found(root, "cmd/alcove/VERSION", `(v\S+)`)
	families, errGlob := filepath.Glob(filepath.Join(root, "guests/families/*/manifest.json"))
	if err := errors.Join(err, errMod, errMake, errVersion, errGlob); err != nil {
		return nil, err
	}
	return []badge{
		{"version", version}, {"license", strings.Replace(license, " License", " 2.0", 1)}, {"Go", mod},
		{"platforms", fmt.Sprint(len(strings.Fields(platforms)))}, {"tool families", fmt.Sprint(len(families))},
	}, nil
}

// found is what the first group of an expression matches in a file.
func found(root, name, expression string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return "", fmt.Errorf("read what a badge says: %w", err)
	}
	match := regexp.MustCompile(expression).FindSubmatch(data)
	if match == nil {
		return "", fmt.Errorf("read what a badge says: %s has no %s", name, expression)
	}
	return string(match[1]), nil
}

// drawBadges writes badges beside each other. Widths are by the count of characters, with text fitted to them.
func drawBadges(w io.Writer, badges []badge) error {
	var body, told strings.Builder
	x := 0
	for _, b := range badges {
		left, right := 12+7*len(b.name), 12+7*len(b.value)
		fmt.Fprintf(&body, `<rect x="%d" width="%d" height="20" fill="#57606a"/><rect x="%d" width="%d" height="20" fill="#0550ae"/>`+"\n", x, left, x+left, right)
		for _, t := range []struct {
			at, width int
			text      string
		}{{x, left, b.name}, {x + left, right, b.value}} {
			fmt.Fprintf(&body, `<text x="%d" y="14" textLength="%d">%s</text>`+"\n", t.at+6, t.width-12, escaped(t.text))
		}
		fmt.Fprintf(&told, "%s: %s. ", b.name, b.value)
		x += left + right + 6
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d 20" width="%d" height="20" role="img" aria-label="%s">
<style>text{font:11px Verdana,"DejaVu Sans",sans-serif;fill:#fff}</style>
%s</svg>
`, x-6, x-6, strings.TrimSpace(escaped(told.String())), &body)
	return err
}
