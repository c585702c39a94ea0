package graph

import (
	"strconv"
	"strings"
)

// graphML is the graph in GraphML.
func (e *exported) graphML() string {
	var out strings.Builder
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="kind" for="node" attr.name="kind" attr.type="string"/>
<key id="label" for="node" attr.name="label" attr.type="string"/>
<key id="content" for="node" attr.name="content" attr.type="string"/>
<key id="relation" for="edge" attr.name="relation" attr.type="string"/>
<key id="valid_from" for="edge" attr.name="valid_from" attr.type="string"/>
<key id="valid_until" for="edge" attr.name="valid_until" attr.type="string"/>
<key id="confidence" for="edge" attr.name="confidence" attr.type="double"/>
<graph edgedefault="directed">
`)
	data := func(key, value string) {
		if value != "" {
			out.WriteString(`<data key="` + key + `">` + escapedXML(value) + `</data>`)
		}
	}
	for _, n := range e.Nodes {
		out.WriteString(`<node id="` + escapedXML(n.ID.String()) + `">`)
		data("kind", n.Kind)
		data("label", n.Label)
		data("content", n.Content)
		out.WriteString("</node>\n")
	}
	for _, l := range e.Edges {
		out.WriteString(`<edge source="` + escapedXML(l.From.String()) + `" target="` + escapedXML(l.To.String()) + `">`)
		data("relation", l.Relation)
		if l.ValidFrom != 0 {
			data("valid_from", l.ValidFrom.String())
		}
		if l.ValidUntil != 0 {
			data("valid_until", l.ValidUntil.String())
		}
		data("confidence", strconv.FormatFloat(l.Confidence, 'g', -1, 64))
		out.WriteString("</edge>\n")
	}
	out.WriteString("</graph>\n</graphml>\n")
	return out.String()
}

// escapedXML is a text for XML: without the characters that it has no form for.
func escapedXML(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, text)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(clean)
}

// dot is the graph in the language of Graphviz.
func (e *exported) dot() string {
	var out strings.Builder
	out.WriteString("digraph memory {\n")
	for _, n := range e.Nodes {
		out.WriteString("  " + quoted(n.ID.String()) + " [label=" + quoted(n.Label) + ", kind=" + quoted(n.Kind) + "];\n")
	}
	for _, l := range e.Edges {
		out.WriteString("  " + quoted(l.From.String()) + " -> " + quoted(l.To.String()) + " [label=" + quoted(l.Relation) + "];\n")
	}
	out.WriteString("}\n")
	return out.String()
}

// quoted is a text as Graphviz quotes it.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "", "\x00", "").Replace(text) + `"`
}
