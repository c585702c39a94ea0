package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// frontError is an error in a line of the front matter.
type frontError struct {
	line int // from 1; 0: unknown
	err  error
}

func (e *frontError) Error() string { return e.err.Error() }
func (e *frontError) Unwrap() error { return e.err }

// parseFront decodes front matter, of several documents the first. The parser's memory and time are bounded by the bytes, those of the
// values by the limits of decoding, which count what aliases stand for.
func parseFront(front []byte) (map[string]any, error) {
	if len(front) > maxFront {
		return nil, &LimitError{"bytes of front matter", maxFront, "move some of it to the text"}
	}
	if i := bytes.IndexFunc(front, isControl); i >= 0 {
		return nil, &frontError{lineAt(front, i), errors.New("a control character stands in it: remove it, or write it as an escape in double quotes")}
	}
	root, err := firstDocument(front)
	if err != nil {
		return nil, placedInFront(front, err)
	}
	if root == nil || root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return map[string]any{}, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, &frontError{root.Line, errors.New("it is not a map: write each field as name: value")}
	}
	d := nodeDecoder{open: map[*yaml.Node]bool{}}
	return d.mapping(root, 1)
}

// firstDocument parses the first document, nil if it is empty. What follows it is parsed too: without that, {a: 1} in one line and b: 2 in
// the next would lose b without an error.
func firstDocument(front []byte) (*yaml.Node, error) {
	var first, next yaml.Node
	front, _, _ = bytes.Cut(front, []byte("\n...\n")) // ends a document; the library would require --- after it
	decoder := yaml.NewDecoder(bytes.NewReader(front))
	if err := decoder.Decode(&first); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := decoder.Decode(&next); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return first.Content[0], nil
}

func isControl(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) }

func lineAt(front []byte, i int) int { return 1 + bytes.Count(front[:i], []byte("\n")) }

// placedInFront extracts the line of a library error, and its text without the line. The library counts lines from 1 in errors of its
// scanner and from 0 in those of its parser, omits line 0, and knows no line of an unknown anchor.
func placedInFront(front []byte, err error) error {
	text := strings.TrimPrefix(firstLine(err), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, problem, _ := strings.Cut(rest, ": ")
		line, _ = strconv.Atoi(number)
		if text = problem; ofParser(text) {
			line++
		}
	}
	switch {
	case strings.HasPrefix(text, "exceeded max depth"):
		return &frontError{line, &LimitError{"nested lists and maps", maxFrontDepth, "make them flatter"}}
	case strings.HasPrefix(text, "unknown anchor"):
		_, name, _ := strings.Cut(text, "'")
		name, _, _ = strings.Cut(name, "'")
		line = lineAt(front, max(bytes.Index(front, []byte("*"+name)), 0))
	case strings.HasPrefix(text, "control characters"):
		line = 0
	}
	return &frontError{min(line, lineAt(front, len(front))), errors.New(text)} // at the end, the library is a line beyond it
}

func ofParser(problem string) bool {
	for _, start := range []string{"did not find expected <", "did not find expected key", "did not find expected '-'", "did not find expected ','",
		"did not find expected node", "found undefined tag", "found duplicate %", "found incompatible"} {
		if strings.HasPrefix(problem, start) {
			return true
		}
	}
	return false
}

// nodeDecoder converts nodes to values, within the limits.
type nodeDecoder struct {
	nodes   int                 // without those that aliases stand for
	bytes   int                 // with them
	aliases int                 // within so many of them
	open    map[*yaml.Node]bool // lists and maps that are being decoded
}

// value decodes a node within depth lists and maps.
func (d *nodeDecoder) value(n *yaml.Node, depth int) (any, error) {
	switch n.Kind {
	case yaml.AliasNode:
		return d.alias(n, depth)
	case yaml.MappingNode:
		return d.mapping(n, depth+1)
	case yaml.SequenceNode:
		return d.sequence(n, depth+1)
	}
	return scalar(n), d.count(n, depth)
}

// count adds a node to what the limits are for.
func (d *nodeDecoder) count(n *yaml.Node, depth int) error {
	if d.aliases == 0 {
		d.nodes++
	}
	d.bytes += len(n.Value) + 1
	switch {
	case depth > maxFrontDepth:
		return &frontError{n.Line, &LimitError{"nested lists and maps", maxFrontDepth, "make them flatter"}}
	case d.nodes > maxFrontNodes:
		return &frontError{n.Line, &LimitError{"keys and values", maxFrontNodes, "move some of them to the text"}}
	case d.bytes > maxFrontExpanded:
		return &frontError{n.Line, &LimitError{"bytes with what aliases stand for", maxFrontExpanded, "write out what is meant, or move it to the text"}}
	}
	return nil
}

// alias decodes what an alias stands for. Of an error there, the line is that of the outermost alias.
func (d *nodeDecoder) alias(n *yaml.Node, depth int) (any, error) {
	if d.open[n.Alias] {
		return nil, &frontError{n.Line, fmt.Errorf("the alias %q stands for what it is in", n.Value)}
	}
	if err := d.count(n, depth); err != nil {
		return nil, err
	}
	d.aliases++
	v, err := d.value(n.Alias, depth)
	d.aliases--
	if placed := new(frontError); errors.As(err, &placed) {
		err = &frontError{n.Line, placed.err}
	}
	return v, err
}

func (d *nodeDecoder) sequence(n *yaml.Node, depth int) ([]any, error) {
	if err := d.count(n, depth); err != nil {
		return nil, err
	}
	d.open[n] = true
	defer delete(d.open, n)
	list := make([]any, 0, len(n.Content))
	for _, element := range n.Content {
		v, err := d.value(element, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (d *nodeDecoder) mapping(n *yaml.Node, depth int) (map[string]any, error) {
	if err := d.count(n, depth); err != nil {
		return nil, err
	}
	d.open[n] = true
	defer delete(d.open, n)
	values, own := map[string]any{}, map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if name.Tag == "!!merge" {
			if err := d.merge(values, value, depth); err != nil {
				return nil, err
			}
			continue
		}
		k, err := d.key(name, depth)
		if err != nil {
			return nil, err
		}
		if line := own[k]; line > 0 {
			return nil, &frontError{name.Line, fmt.Errorf("the key %q is already in line %d: keep one of them", k, line+1)} // line 1 is ---
		}
		own[k] = name.Line
		if values[k], err = d.value(value, depth); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// key returns a key as it is written.
func (d *nodeDecoder) key(n *yaml.Node, depth int) (string, error) {
	written := n
	if n.Kind == yaml.AliasNode {
		written = n.Alias
	}
	if written.Kind != yaml.ScalarNode {
		return "", &frontError{n.Line, errors.New("a list or map is the key of a map: write a text")}
	}
	_, err := d.value(n, depth)
	return written.Value, err
}

// merge copies the members of a map, or of each in a list, over those before the key <<.
func (d *nodeDecoder) merge(into map[string]any, n *yaml.Node, depth int) error {
	v, err := d.value(n, depth)
	if err != nil {
		return err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, v := range list {
		from, ok := v.(map[string]any)
		if !ok {
			return &frontError{n.Line, errors.New("the key << has a value that is neither a map nor a list of maps")}
		}
		maps.Copy(into, from)
	}
	return nil
}

// scalar returns null, a bool or a number, or the text. Times are text, and so are numbers that no type holds.
func scalar(n *yaml.Node) any {
	digits := strings.ReplaceAll(n.Value, "_", "")
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		if b, err := strconv.ParseBool(n.Value); err == nil {
			return b
		}
	case "!!int":
		if i, err := strconv.ParseInt(digits, 0, 64); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(digits, 0, 64); err == nil {
			return u
		}
	case "!!float":
		// A number without a point, such as 08, 12e03 or an account number of 20 digits, stays text.
		if f, err := float(digits); err == nil && (strings.Contains(digits, ".") || n.Style&yaml.TaggedStyle != 0) {
			return f
		}
	}
	return n.Value
}

// float reads a number, or .inf and .nan with any sign.
func float(digits string) (float64, error) {
	switch strings.ToLower(strings.TrimLeft(digits, "+-")) {
	case ".inf", ".nan":
		digits = strings.Replace(digits, ".", "", 1)
	}
	return strconv.ParseFloat(digits, 64)
}
