package vault

import (
	"slices"
	"strconv"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

func decode(data alcove.Raw, into scan.Decoder) error { return scan.Decode(data, into) }

func cut(text string) string { return words.Cut(text, shownText) }

// merge brings the edits of a note into its memory.
func (w *importing) merge(n *note, m *alcove.Memory) error {
	mine, err := w.editedOf(m)
	if err != nil {
		return err
	}
	base, known, err := w.base(n, m, mine)
	if err != nil {
		return err
	}
	edit, changed, conflicts := m.Edit(w.c), false, len(w.out.Conflicts)
	if text, is := w.text(n, "content", base.content, mine.content, n.content, known); is {
		if err := value(edit, m, text); err != nil {
			w.warn(n.path, err.Error())
			return nil
		}
		changed = true
	}
	if text, is := w.text(n, "summary", base.summary, mine.summary, n.summary, known); is {
		changed = true
		if edit.Metadata(fact.Summary, text); text == "" {
			edit.Metadata(fact.Summary, nil)
		}
	}
	if tags := mergedSet(base.tags, mine.tags, n.tags, known); !slices.Equal(tags, mine.tags) {
		changed = true
		edit.Tags(alcove.Some(tags))
	}
	if names := mergedSet(base.entities, mine.entities, n.entities, known); !slices.Equal(names, mine.entities) {
		changed = true
		ids, err := w.names.ids(m, names)
		if err != nil {
			return err
		}
		edit.Metadata(fact.EntityIDs, ids)
	}
	if !changed {
		w.out.Unchanged++
		return nil
	}
	w.out.Updated++
	if n.base != nil && len(w.out.Conflicts) == conflicts {
		w.origin(n, func(name string, value any) { edit.Metadata(name, value) })
	}
	return edit.Apply()
}

// value changes the content of a memory. One that is no text stays what JSON it is.
func value(e *alcove.Edit, m *alcove.Memory, text string) error {
	if _, isText := m.Value.Text(); isText {
		e.Value(text)
		return nil
	}
	s := scan.New([]byte(text))
	raw := s.Raw()
	if s.End() != nil {
		return alcove.Errorf(alcove.InvalidArgument, "its content has to stay JSON, and is not")
	}
	e.Value(alcove.Raw(raw))
	return nil
}

func (w *importing) editedOf(m *alcove.Memory) (edited, error) {
	names, err := w.names.names(m)
	return editedOf(m, names), err
}

// base is what the note was exported from. It is not known if history does not reach back to it.
func (w *importing) base(n *note, m *alcove.Memory, mine edited) (base edited, known bool, err error) {
	if m.Version == n.version || mine.digest() == n.digest {
		return mine, true, nil
	}
	if digest, _ := m.Metadata[metadataDigest].Text(); n.base == nil && n.version == 0 && digest == n.digest {
		n.base = baseIn(m)
	}
	if n.base != nil {
		return n.base.edited(mine, n.edited), true, nil
	}
	if n.version == 0 || n.version > m.Version {
		return base, false, nil
	}
	out, err := w.c.MemoryGet(alcove.MemoryGetRequest{Namespace: m.Namespace, Keys: []string{m.Key}, AsOf: "v" + strconv.FormatUint(n.version, 10)})
	switch alcove.CodeOf(err) {
	case alcove.NotFound, alcove.InvalidArgument: // history was trimmed, or the version is none of this branch
		return base, false, nil
	}
	if err != nil || len(out.Memories) == 0 || out.Memories[0] == nil {
		return base, false, err
	}
	base, err = w.editedOf(out.Memories[0])
	return base, true, err
}

// text merges a text: what one side alone changed counts. It reports whether the memory's is changed.
func (w *importing) text(n *note, field, base, memory, file string, known bool) (text string, changed bool) {
	b, m, f := trimmed(base), trimmed(memory), trimmed(file)
	switch {
	case m == f || known && b == f:
		return memory, false
	case known && b == m || w.rule == "file":
		return file, true
	case w.rule == "report":
		w.conflict(n, field, file, memory)
	}
	return memory, false
}

// mergedSet is a set with what both sides added, and without what one of them removed. Without the base nothing is removed.
func mergedSet(base, memory, file []string, known bool) (list []string) {
	for _, v := range memory {
		if slices.Contains(file, v) || !known || !slices.Contains(base, v) {
			list = append(list, v)
		}
	}
	for _, v := range file {
		if !slices.Contains(list, v) && !(known && slices.Contains(base, v)) {
			list = append(list, v)
		}
	}
	return list
}
