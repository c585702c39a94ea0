package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const mostListed = 100 // resources of a page of a family

// offers are the resources of families. Tools of the families answer for them.
type offers struct{ server *Server }

// all returns the resources that a client with some rights is offered, each URI once.
func (o offers) all(rights memory.Rights) (list []tool.Resource) {
	known := map[string]bool{}
	for _, f := range o.server.registry.Snapshot().For(rights).Sets {
		if f.Fault != "" {
			continue
		}
		for _, r := range f.Resources {
			if !known[r.URI] {
				known[r.URI], list = true, append(list, r)
			}
		}
	}
	return list
}

// find returns the resource that a URI belongs to: one of exactly this URI wins over templates.
func (o offers) find(rights memory.Rights, uri string) (found tool.Resource, values map[string]string, ok bool) {
	for _, r := range o.all(rights) {
		if r.URI == uri {
			return r, nil, true
		}
		if given, fits := r.Match(uri); fits && !ok {
			found, values, ok = r, given, true
		}
	}
	return found, values, ok
}

func (o offers) owns(ctx context.Context, uri string) bool {
	_, _, ok := o.find(o.server.rights(SessionOf(ctx)), uri)
	return ok
}

func (o offers) templates(ctx context.Context) (list []protocol.ResourceTemplate) {
	for _, r := range o.all(o.server.rights(SessionOf(ctx))) {
		if r.Variables != nil {
			list = append(list, protocol.NewResourceTemplate(r.URI, r.Name, protocol.WithTemplateTitle(r.Title),
				protocol.WithTemplateDescription(r.Description), protocol.WithTemplateMIMEType(r.MIMEType)))
		}
	}
	return list
}

// list lists the resources that are no templates, and then what the families' tools list, each from page to page.
func (o offers) list(ctx context.Context, after string) (page []protocol.Resource, next string, err error) {
	all := o.all(o.server.rights(SessionOf(ctx)))
	lists := slices.DeleteFunc(slices.Clone(all), func(r tool.Resource) bool { return r.List == "" })
	if after == "" {
		for _, r := range all {
			if r.Variables == nil {
				page = append(page, protocol.NewResource(r.URI, r.Name, protocol.WithResourceTitle(r.Title),
					protocol.WithResourceDescription(r.Description), protocol.WithMIMEType(r.MIMEType)))
			}
		}
		return page, following(lists, 0, ""), nil
	}
	number, from, _ := strings.Cut(after, ":")
	at, err := strconv.Atoi(number)
	if err != nil || at < 0 || at >= len(lists) {
		return nil, "", nil // the families changed meanwhile
	}
	page, from, err = o.listed(ctx, lists[at], from)
	if from == "" {
		at++
	}
	return page, following(lists, at, from), err
}

// following returns where a list goes on; empty: nowhere.
func following(lists []tool.Resource, at int, from string) string {
	if at >= len(lists) {
		return ""
	}
	return fmt.Sprintf("%d:%s", at, from)
}

// listed lists a page of the resources of a template.
func (o offers) listed(ctx context.Context, r tool.Resource, after string) (page []protocol.Resource, next string, err error) {
	arguments := map[string]any{}
	if after != "" {
		arguments["after"] = after
	}
	var found struct {
		Resources []struct {
			URI, Name, Title, Description string
			MIMEType                      string `json:"mime_type"`
		}
		Next string
	}
	if err := o.server.ask(ctx, r.List, arguments, &found); err != nil {
		return nil, "", err
	}
	for _, l := range found.Resources[:min(len(found.Resources), mostListed)] {
		if _, fits := r.Match(l.URI); !fits {
			continue // another's, which this family cannot speak for
		}
		mime := r.MIMEType
		if l.MIMEType != "" {
			mime = l.MIMEType
		}
		page = append(page, protocol.NewResource(l.URI, l.Name, protocol.WithResourceTitle(l.Title),
			protocol.WithResourceDescription(l.Description), protocol.WithMIMEType(mime)))
	}
	return page, found.Next, nil
}

func (o offers) read(ctx context.Context, uri string) ([]protocol.ResourceContents, error) {
	r, values, ok := o.find(o.server.rights(SessionOf(ctx)), uri)
	if !ok {
		return nil, nil
	}
	arguments := map[string]any{}
	for name, value := range values {
		arguments[name] = value
	}
	var read struct{ Contents []content }
	if err := o.server.ask(ctx, r.Tool, arguments, &read); err != nil {
		return nil, err
	}
	if len(read.Contents) > mostContent {
		return nil, &memory.Error{Code: memory.Exhausted, Message: fmt.Sprintf("the resource has %d contents: at most %d can be read", len(read.Contents), mostContent)}
	}
	var list []protocol.ResourceContents
	size := 0
	for _, c := range read.Contents {
		if size += len(c.Text) + len(c.Data); size > maxResource {
			return nil, &memory.Error{Code: memory.Exhausted, Message: fmt.Sprintf("the resource has more than %d bytes, which is the limit", maxResource)}
		}
		list = append(list, c.contents(uri, r.MIMEType))
	}
	return list, nil
}
