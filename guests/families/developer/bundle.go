package developer

import (
	"bytes"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Bundle exports the branch as text, checks such a text, or imports it.
//
// A bundle is lines of JSON: a header, the memories and the family's own records of all namespaces that the caller may read, and at last
// their numbers and the SHA-256 of the lines before. It holds no history and no log. import stores all of it on the branch, over what has
// the same keys; a bundle whose digest is wrong is refused. namespaces limits an export. file is a path below the directory bundles, where the
// operator named one: export writes the bundle there, validate and import read it; without file it is content.
//
//alcove:tool memory_bundle mixed destructive
//alcove:title Bundles
//alcove:description Export, check or import a branch as one bundle of data.
//alcove:alias strata_bundle_export action=export
//alcove:alias strata_bundle_validate action=validate
//alcove:alias strata_bundle_import action=import
type Bundle struct {
	Action     string   `alcove:"required,enum=export|validate|import"`
	Content    string   // validate, import: the bundle.
	File       string   `alcove:"alias=path"` // Below the directory bundles, where the operator named one.
	Namespaces []string `alcove:"many,advanced,max=100"`
}

// bundleAnswer is what memory_bundle answers.
type bundleAnswer struct {
	Content  string       `json:",omitzero"`
	File     string       `json:",omitzero"` // With the bundle.
	Branch   string       `json:",omitzero"` // That was exported.
	Digest   string       // SHA-256.
	Counts   bundleCounts // Of the bundle.
	Valid    *bool        `json:",omitzero"`
	Problem  string       `json:",omitzero"`
	Imported *bool        `json:",omitzero"`
}

type bundleCounts struct {
	Memories int
	Records  int
}

// bundleLine is a line of a bundle: the header, a memory, a record, or the trailer.
//
//alcove:json
type bundleLine struct {
	Bundle string         `json:",omitzero"` // header: "alcove-developer"
	Format int            `json:",omitzero"`
	Branch string         `json:",omitzero"`
	Memory *bundledMemory `json:",omitzero"`
	Record *bundledRecord `json:",omitzero"`
	End    bool           `json:",omitzero"` // trailer
	Digest string         `json:",omitzero"`
	Counts *bundleCounts  `json:",omitzero"`
}

type bundledMemory struct {
	Namespace  string
	Key        string
	Value      alcove.Raw
	Tags       []string              `json:",omitzero"`
	Type       string                `json:",omitzero"`
	Importance *float64              `json:",omitzero"`
	Metadata   map[string]alcove.Raw `json:",omitzero"`
	State      string                `json:",omitzero"`
	Supersedes []string              `json:",omitzero"`
	Links      []string              `json:",omitzero"`
	ExpiresAt  string                `json:",omitzero"`
}

type bundledRecord struct {
	Collection string
	Namespace  string
	Key        string
	Value      alcove.Raw
}

const (
	bundleName   = "alcove-developer"
	bundleFormat = 1
	bundleBytes  = 3 << 20 // of an inline bundle
)

// Call does what the action says.
func (in Bundle) Call(c *alcove.Call) (out bundleAnswer, err error) {
	if in.Action == "export" {
		return in.export(c)
	}
	if in.Content, err = in.content(c); err != nil {
		return out, err
	}
	b, problem := readBundle(in.Content)
	out.Branch, out.Digest, out.Counts = b.branch, b.digest, b.counts
	if in.Action == "validate" {
		out.Valid, out.Problem = new(problem == ""), problem
		return out, nil
	}
	if problem != "" {
		return out, alcove.Errorf(alcove.InvalidArgument, "the bundle cannot be imported: %s", problem)
	}
	out.Imported = new(true)
	return out, b.store(c)
}

// bundleWriter writes a bundle.
type bundleWriter struct {
	text   []byte
	counts bundleCounts
}

func (w *bundleWriter) line(x bundleLine) error {
	data, err := scan.Encode(x)
	if err != nil {
		return err
	}
	if w.text = append(append(w.text, data...), '\n'); len(w.text) > bundleBytes {
		return alcove.Errorf(alcove.Exhausted, "the bundle has more than %d bytes: export fewer namespaces, or use alcove export", bundleBytes)
	}
	return nil
}

func (in Bundle) export(c *alcove.Call) (out bundleAnswer, err error) {
	namespaces := in.Namespaces
	if len(namespaces) == 0 {
		if namespaces, err = exportable(c); err != nil {
			return out, err
		}
	}
	w := &bundleWriter{}
	if err := w.line(bundleLine{Bundle: bundleName, Format: bundleFormat, Branch: c.Branch}); err != nil {
		return out, err
	}
	for _, namespace := range namespaces {
		if err := first(w.memories(c, namespace), w.records(c, namespace)); err != nil {
			return out, err
		}
	}
	out.Branch, out.Counts, out.Digest = c.Branch, w.counts, hexOf(digestOf(w.text))
	err = w.line(bundleLine{End: true, Digest: out.Digest, Counts: &w.counts})
	if err != nil || in.File == "" {
		out.Content = string(w.text)
		return out, err
	}
	out.File = in.File
	_, err = c.FileWrite(alcove.FileWriteRequest{Root: root, Files: []alcove.FileItem{{Path: in.File, Content: string(w.text)}}})
	return out, err
}

// root is the name of the directory of bundles.
const root = "bundles"

// content is the bundle that is given, or that is in a file.
func (in Bundle) content(c *alcove.Call) (string, error) {
	if in.File == "" {
		return in.Content, need(in.Action, "content, or file", in.Content != "")
	}
	found, err := c.FileRead(alcove.FileReadRequest{Root: root, Paths: []string{in.File}})
	if err != nil {
		return "", err
	}
	if len(found.Files) == 0 || found.Files[0] == nil {
		return "", alcove.Errorf(alcove.NotFound, "there is no file %s below the directory %s", in.File, root)
	}
	return found.Files[0].Content, nil
}

// exportable are the namespaces with memories, those that were created, and the call's own.
func exportable(c *alcove.Call) ([]string, error) {
	all := []string{c.Namespace}
	for at := (Namespaces{Limit: most}); ; {
		page, err := at.list(c)
		if err != nil {
			return nil, err
		}
		all = merge(all, page.Namespaces)
		if at.Cursor = page.NextCursor; at.Cursor == "" {
			return all, nil
		}
	}
}

func (w *bundleWriter) memories(c *alcove.Call, namespace string) error {
	for m, err := range c.Memories(alcove.MemoryListRequest{Namespace: namespace, Limit: most}) {
		if err != nil {
			return err
		}
		w.counts.Memories++
		x := bundledMemory{namespace, m.Key, m.Value, m.Tags, m.Type, m.Importance, m.Metadata, m.State, m.Supersedes, m.Links, m.ExpiresAt}
		if err := w.line(bundleLine{Memory: &x}); err != nil {
			return err
		}
	}
	return nil
}

func (w *bundleWriter) records(c *alcove.Call, namespace string) error {
	for _, collection := range own {
		for r, err := range c.Records(alcove.RecordListRequest{Collection: collection, Namespace: namespace, Limit: most}) {
			if err != nil {
				return err
			}
			w.counts.Records++
			if err := w.line(bundleLine{Record: &bundledRecord{collection, namespace, r.Key, r.Value}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// bundle is one that was read.
type bundle struct {
	branch, digest string
	counts         bundleCounts
	memories       []alcove.MemoryItem
	records        []*bundledRecord
}

// readBundle reads a bundle, and tells what is wrong with it.
func readBundle(content string) (b bundle, problem string) {
	data := []byte(content)
	for from, n := 0, 0; from < len(data); n++ {
		end := bytes.IndexByte(data[from:], '\n')
		if end < 0 {
			end = len(data) - from
		}
		var x bundleLine
		if err := scan.Decode(data[from:from+end], &x); err != nil {
			return b, "a line is no JSON of a bundle: " + err.Error()
		}
		switch {
		case n == 0 && (x.Bundle != bundleName || x.Format != bundleFormat):
			return b, "it does not begin with the header of a bundle"
		case n == 0:
			b.branch = x.Branch
		case x.End:
			return b, b.end(&x, data[:from], data[min(from+end+1, len(data)):])
		default:
			if problem := b.add(&x); problem != "" {
				return b, problem
			}
		}
		from += end + 1
	}
	return b, "it is cut off: it has no last line"
}

func (b *bundle) add(x *bundleLine) string {
	switch {
	case x.Memory != nil:
		m := x.Memory
		b.counts.Memories++
		item := alcove.MemoryItem{Key: m.Key, Namespace: m.Namespace}
		item.Value, item.Tags, item.Importance, item.Metadata = m.Value, m.Tags, m.Importance, m.Metadata
		item.State, item.Supersedes, item.Links = m.State, m.Supersedes, m.Links
		if m.Type != "" {
			item.Type = &m.Type
		}
		if m.ExpiresAt != "" {
			item.ExpiresAt = &m.ExpiresAt
		}
		b.memories = append(b.memories, item)
	case x.Record != nil:
		if !isOwn(x.Record.Collection) {
			return "it has a record of an unknown collection"
		}
		b.counts.Records++
		b.records = append(b.records, x.Record)
	default:
		return "it has a line that is no memory and no record"
	}
	return ""
}

func isOwn(collection string) bool {
	for _, name := range own {
		if name == collection {
			return true
		}
	}
	return false
}

// end checks the last line against what came before.
func (b *bundle) end(x *bundleLine, before, behind []byte) string {
	b.digest = hexOf(digestOf(before))
	switch {
	case x.Digest != b.digest:
		return "its digest is " + b.digest + ", and should be what its last line says"
	case x.Counts == nil || *x.Counts != b.counts:
		return "its last line has other numbers of memories and records"
	case len(bytes.TrimSpace(behind)) > 0:
		return "something follows its last line"
	}
	return ""
}

// store stages what the bundle holds.
func (b *bundle) store(c *alcove.Call) error {
	if _, err := c.PutMemories(b.memories); err != nil {
		return err
	}
	for from := 0; from < len(b.records); {
		to := from + 1
		for to < len(b.records) && to-from < most && b.records[to].Collection == b.records[from].Collection && b.records[to].Namespace == b.records[from].Namespace {
			to++
		}
		r := b.records[from]
		put := alcove.Records[alcove.Raw]{Name: r.Collection, Namespace: r.Namespace}
		err := put.PutAll(c, func(yield func(string, alcove.Raw) bool) {
			for _, x := range b.records[from:to] {
				if !yield(x.Key, x.Value) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}
