package vault

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// ExportFactsToVault writes memories as Markdown files.
//
// Active memories of one namespace, the oldest first, without turns of conversations. inline answers the files. mirror writes them below
// the root vault, and leaves files that were edited since, which are to be imported first. since leaves out what did not change since a
// moment.
//
//alcove:camel
//alcove:title Export facts as Markdown
//alcove:description Facts as Markdown files.
type ExportFactsToVault struct {
	Since  string
	Limit  int    `alcove:"default=200,min=1,max=1000"`
	Cursor string `alcove:"advanced"` // next_cursor of the page before.
	Target string `alcove:"default=inline,enum=inline|mirror"`
}

//alcove:camel
type exported struct {
	Files      []file
	Count      int
	Written    int      `json:"written,omitzero"` // In a mirror, those that changed.
	Edited     []string `json:"edited,omitzero"`  // In a mirror, those left as they are, because somebody edited them.
	NextCursor string   `json:"next_cursor,omitzero"`
	Truncated  bool     `json:"truncated,omitzero"`
}

// file is an exported memory.
type file struct {
	Path    string
	Content string `json:"content,omitzero"`
	Digest  string // Of what people edit in it.
}

// Call exports a page.
func (in ExportFactsToVault) Call(c *alcove.Call) (out exported, err error) {
	filter := active()
	filter.UpdatedSince = in.Since
	page, err := c.MemoryList(alcove.MemoryListRequest{Filter: filter, Order: "oldest", Created: true, Limit: in.Limit, After: in.Cursor})
	if err != nil {
		return out, err
	}
	out.NextCursor, out.Truncated = page.Next, page.Next != ""
	names, where := &entities{c: c}, &paths{c: c}
	for i := range page.Memories {
		m := &page.Memories[i]
		if isTurn(m) {
			continue
		}
		f, err := fileOf(names, where, m)
		if err != nil {
			return out, err
		}
		out.Files = append(out.Files, f)
	}
	out.Count = len(out.Files)
	if in.Target == "mirror" {
		return out, out.mirror(c)
	}
	return out, nil
}

// isTurn reports whether a memory is a turn of a conversation.
func isTurn(m *alcove.Memory) bool { return m.Metadata["session"] != nil }

func fileOf(names *entities, where *paths, m *alcove.Memory) (f file, err error) {
	entities, err := names.names(m)
	if err != nil {
		return f, err
	}
	if f.Path, err = where.of(m); err != nil {
		return f, err
	}
	return file{Path: f.Path, Content: rendered(m, entities), Digest: editedOf(m, entities).digest()}, nil
}

// mirror writes the files, and takes their contents out of the answer.
func (x *exported) mirror(c *alcove.Call) error {
	var items []alcove.FileItem
	err := inParts(x.Files, func(part []file) error {
		present, err := readFiles(c, pathsOf(part))
		for i := range present {
			item, fits := x.over(part[i], present[i])
			if fits {
				items = append(items, item)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := range x.Files {
		x.Files[i].Content = ""
	}
	x.Written, err = writeFiles(c, items)
	return err
}

// over is a file to write over the one that is there, if nobody edited that.
func (x *exported) over(f file, there *alcove.File) (item alcove.FileItem, fits bool) {
	item = alcove.FileItem{Path: f.Path, Content: f.Content, IfDigest: new("")}
	if there == nil {
		return item, true
	}
	item.IfDigest = &there.Digest
	if there.Content == f.Content {
		return item, false
	}
	n, err := read(f.Path, there.Content)
	if err != nil || n.id.IsZero() || n.edited.digest() != n.digest && n.edited.digest() != f.Digest { // the latter was imported
		x.Edited = append(x.Edited, f.Path)
		return item, false
	}
	return item, true
}
