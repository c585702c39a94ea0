package mcp

import (
	"encoding/json"
	"fmt"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/memory"
)

const (
	textType = "text/plain"
	jsonType = "application/json"
)

// mostContent bounds the pieces of an answer.
const mostContent = 256

// content is a piece of what a family shows people and models.
type content struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"` // base64
	MIMEType string `json:"mime_type"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
}

func (c content) wire() (protocol.Content, error) {
	switch c.Type {
	case "text":
		return protocol.NewTextContent(c.Text), nil
	case "image":
		return protocol.NewImageContent(c.Data, c.MIMEType), nil
	case "audio":
		return protocol.NewAudioContent(c.Data, c.MIMEType), nil
	case "resource":
		return protocol.NewEmbeddedResource(c.contents(c.URI, "")), nil
	case "link":
		return protocol.NewResourceLink(c.URI, c.Name, "", c.MIMEType), nil
	}
	return nil, &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("the family answered with content of the type %.32q: the types are text, image, audio, resource and link", c.Type)}
}

// contents returns what a resource contains.
func (c content) contents(uri, mime string) protocol.ResourceContents {
	if c.MIMEType != "" {
		mime = c.MIMEType
	}
	if c.URI != "" {
		uri = c.URI
	}
	if c.Data != "" {
		return protocol.BlobResourceContents{URI: uri, MIMEType: mime, Blob: c.Data}
	}
	if mime == "" {
		mime = textType
	}
	return protocol.TextResourceContents{URI: uri, MIMEType: mime, Text: c.Text}
}

// onlyContent reports whether an answer has no other member than its content.
func onlyContent(answer []byte) bool {
	for _, m := range membersOf(answer) {
		if m.name != "content" {
			return false
		}
	}
	return true
}

// contentOf reads the content of a family's answer.
func contentOf(raw json.RawMessage) (list []protocol.Content, err error) {
	var pieces []content
	if err := json.Unmarshal(raw, &pieces); err != nil {
		return nil, &memory.Error{Code: memory.Unavailable, Message: "the family's content is not a list of pieces with a type", Cause: err}
	}
	if len(pieces) > mostContent {
		return nil, &memory.Error{Code: memory.Exhausted, Message: fmt.Sprintf("the answer has %d pieces of content: at most %d are allowed", len(pieces), mostContent)}
	}
	for _, p := range pieces {
		shown, err := p.wire()
		if err != nil {
			return nil, err
		}
		list = append(list, shown)
	}
	return list, nil
}

// membersOf returns the members of a JSON object, in its order.
func membersOf(object json.RawMessage) (list []member) {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	jsonrpc.Members(object, 0, func(name string, value jsonrpc.Span) { list = append(list, member{name, value.Of(object)}) })
	return list
}

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}
