package importer

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// frontError is an error in a line of the front matter.
type frontError struct {
	line int // from 1; 0: unknown
	err  error
}

func (e *frontError) Error() string { return e.err.Error() }
func (e *frontError) Unwrap() error { return e.err }

// parseFront decodes front matter. Input whose memory or time would be out of proportion to its length is refused before each
// step: the lexer's cost is constant per byte, the parser's grows with the depth, and the values' with aliases.
func parseFront(front []byte) (map[string]any, error) {
	values := map[string]any{}
	if len(front) > maxFront {
		return nil, &LimitError{"bytes of front matter", maxFront, "move some of it to the text"}
	}
	tokens := lexer.Tokenize(string(front))
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, placedInFront(err)
	}
	w := weighing{anchors: map[string]int{}}
	for _, doc := range file.Docs {
		w.node(doc)
	}
	if w.err != nil {
		return nil, w.err
	}
	if err := yaml.Unmarshal(front, &values); err != nil {
		return nil, placedInFront(err)
	}
	return values, nil
}

// placedInFront extracts the line of a library error, and its text without the excerpt.
func placedInFront(err error) error {
	var known yaml.Error
	if !errors.As(err, &known) || known.GetToken() == nil || known.GetToken().Position == nil {
		return errors.New(firstLine(err))
	}
	return &frontError{known.GetToken().Position.Line, errors.New(firstLine(errors.New(known.GetMessage())))}
}

// checkTokens bounds the number of tokens and the parser's depth.
func checkTokens(tokens token.Tokens) error {
	var columns []int // of block lists and maps, from the outermost
	flow, line := 0, 0
	begins := false // a list or map may begin at the next token
	for i, t := range tokens {
		if i == maxFrontTokens {
			return &frontError{t.Position.Line, &LimitError{"keys, values and punctuation marks", maxFrontTokens, "move some of them to the text"}}
		}
		switch {
		case t.Type == token.SequenceStartType || t.Type == token.MappingStartType:
			flow++
		case t.Type == token.SequenceEndType || t.Type == token.MappingEndType:
			flow = max(flow-1, 0)
		case flow == 0 && (begins || t.Position.Line != line):
			for len(columns) > 0 && columns[len(columns)-1] >= t.Position.Column {
				columns = columns[:len(columns)-1]
			}
			columns = append(columns, t.Position.Column)
		}
		if len(columns)+flow > maxFrontDepth {
			return &frontError{t.Position.Line, &LimitError{"nested lists and maps", maxFrontDepth, "make them flatter"}}
		}
		begins = t.Type == token.SequenceEntryType || t.Type == token.MappingKeyType || t.Type == token.AnchorType || t.Type == token.TagType
		line = t.Position.Line
	}
	return nil
}

// weighing computes the size in bytes with aliases expanded. Each anchor is measured once.
type weighing struct {
	bytes   int
	anchors map[string]int
	err     error
}

func (w *weighing) node(n ast.Node) {
	if w.err != nil || n == nil {
		return
	}
	switch n := n.(type) {
	case *ast.DocumentNode:
		w.node(n.Body)
	case *ast.MappingNode:
		for _, v := range n.Values {
			w.node(v)
		}
	case *ast.MappingValueNode:
		w.node(n.Key)
		w.node(n.Value)
	case *ast.MappingKeyNode:
		w.node(n.Value)
	case *ast.SequenceNode:
		for _, v := range n.Values {
			w.node(v)
		}
	case *ast.TagNode:
		w.node(n.Value)
	case *ast.LiteralNode:
		w.node(n.Value)
	case *ast.AnchorNode:
		w.anchor(n)
	case *ast.AliasNode:
		w.alias(n)
	default:
		if t := n.GetToken(); t != nil {
			w.add(n, len(t.Value))
		}
	}
	w.add(n, 1)
}

func (w *weighing) add(n ast.Node, bytes int) {
	if w.bytes += bytes; w.bytes > maxFrontExpanded {
		w.fail(n, &LimitError{"bytes with what aliases stand for", maxFrontExpanded, "write out what is meant, or move it to the text"})
	}
}

const unfinished = -1 // the size of an anchor within itself

func (w *weighing) anchor(n *ast.AnchorNode) {
	name, before := nameOf(n.Name), w.bytes
	w.anchors[name] = unfinished
	w.node(n.Value)
	w.anchors[name] = w.bytes - before
}

func (w *weighing) alias(n *ast.AliasNode) {
	name := nameOf(n.Value)
	if w.anchors[name] == unfinished {
		w.fail(n, fmt.Errorf("the alias %q stands for what it is in", name))
		return
	}
	w.add(n, w.anchors[name]) // zero for an unknown anchor, which the decoder reports
}

func nameOf(n ast.Node) string {
	if n == nil || n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
}

func (w *weighing) fail(n ast.Node, err error) {
	if w.err != nil {
		return
	}
	w.err = err
	if t := n.GetToken(); t != nil && t.Position != nil {
		w.err = &frontError{t.Position.Line, err}
	}
}
