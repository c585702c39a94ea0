package alcove

// Find is the memory with an id; nil when there is none. The key of an id without a namespace is in the call's. A key that itself has
// the form of an id is found under that key first.
func (c *Call) Find(id ID) (*Memory, error) {
	if id.Namespace != "" && id.Namespace != c.Namespace {
		if m, err := c.findIn("", id.String()); m != nil || err != nil {
			return m, err
		}
	}
	return c.findIn(id.Namespace, id.Key)
}

func (c *Call) findIn(namespace, key string) (*Memory, error) {
	found, err := c.MemoryGet(MemoryGetRequest{Namespace: namespace, Keys: []string{key}})
	if err != nil || len(found.Memories) == 0 {
		return nil, err
	}
	return found.Memories[0], nil
}

// Memory is the memory with an id, as Find finds it. It is an error with the code NotFound when there is none.
func (c *Call) Memory(id ID) (*Memory, error) {
	m, err := c.Find(id)
	if m == nil && err == nil {
		err = Errorf(NotFound, "there is no memory %q in %s", id.Key, or(id.Namespace, c.Namespace))
	}
	return m, err
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Text is the value as text: a string is itself, anything else its JSON.
func (m *Memory) Text() string {
	if text, ok := m.Value.Text(); ok {
		return text
	}
	return string(m.Value)
}

// Time is when the version was written; zero when the host did not say.
func (m *Memory) Time() Time {
	t, _ := parseTime(m.Timestamp)
	return t
}

// Draft is a memory that Put stages. Its methods fill it and return it.
type Draft struct {
	call *Call
	item MemoryItem
	err  error
}

// Store begins a memory of some text.
func (c *Call) Store(text string) *Draft { return c.StoreValue(text) }

// StoreValue begins a memory of a value that JSON takes.
func (c *Call) StoreValue(value any) *Draft {
	d := &Draft{call: c}
	d.item.Value, d.err = marshal(value)
	return d
}

// Key sets the key. Without one it follows from the namespace and the value.
func (d *Draft) Key(key string) *Draft { d.item.Key = key; return d }

// In sets the namespace. Without one it is the call's own.
func (d *Draft) In(namespace string) *Draft { d.item.Namespace = namespace; return d }

// Type sets the type; an empty one is none.
func (d *Draft) Type(name string) *Draft {
	if name != "" {
		d.item.Type = &name
	}
	return d
}

// Tags sets the tags.
func (d *Draft) Tags(tags ...string) *Draft {
	if len(tags) > 0 {
		d.item.Tags = tags
	}
	return d
}

// Importance sets the importance, from 0 to 1.
func (d *Draft) Importance(v float64) *Draft { d.item.Importance = &v; return d }

// Supersedes names memories that it replaces. A zero id is none.
func (d *Draft) Supersedes(ids ...ID) *Draft {
	d.item.Supersedes = append(d.item.Supersedes, d.call.names(ids)...)
	return d
}

// Links names memories that it refers to. A zero id is none.
func (d *Draft) Links(ids ...ID) *Draft {
	d.item.Links = append(d.item.Links, d.call.names(ids)...)
	return d
}

// Expires sets when it expires: an instant, a date or `in 2h`; empty for never.
func (d *Draft) Expires(at string) *Draft {
	if at != "" {
		d.item.ExpiresAt = &at
	}
	return d
}

// Metadata sets a named value that JSON takes.
func (d *Draft) Metadata(name string, value any) *Draft {
	raw, err := marshal(value)
	if d.err == nil {
		d.err = err
	}
	if d.item.Metadata == nil {
		d.item.Metadata = Metadata{}
	}
	d.item.Metadata[name] = raw
	return d
}

// IfVersion has Put fail unless that version is the newest; 0: unless the key is free.
func (d *Draft) IfVersion(version uint64) *Draft { d.item.IfVersion = &version; return d }

// Item is the memory for PutMemories.
func (d *Draft) Item() (MemoryItem, error) { return d.item, d.err }

// Put stages the memory and returns its id.
func (d *Draft) Put() (ID, error) {
	if d.err != nil {
		return ID{}, Errorf(InvalidArgument, "write the memory: %v", d.err)
	}
	out, err := d.call.MemoryPut(MemoryPutRequest{Items: []MemoryItem{d.item}})
	if err != nil || len(out.Stored) == 0 {
		return ID{}, err
	}
	return ID{out.Stored[0].Namespace, out.Stored[0].Key}, nil
}

// Edit is a change of some fields of a memory that Apply stages. Its methods fill it and return it.
type Edit struct {
	call  *Call
	patch MemoryPatch
	err   error
}

// Edit begins a change of the memory with an id.
func (c *Call) Edit(id ID) *Edit {
	return &Edit{call: c, patch: MemoryPatch{Namespace: id.Namespace, Key: id.Key}}
}

// Edit begins a change of the memory, which fails when it is not of this version any more.
func (m *Memory) Edit(c *Call) *Edit {
	e := c.Edit(m.ID())
	if m.Version != 0 {
		e.patch.IfVersion = &m.Version
	}
	return e
}

// change sets a field if there is a value, and clears it if it is cleared.
func change[T any](e *Edit, field string, o Optional[T], set func(T)) *Edit {
	if v, ok := o.Get(); ok {
		set(v)
	}
	if o.Cleared() {
		e.Clear(field)
	}
	return e
}

// Clear takes fields away: tags, type, importance, metadata, supersedes, links or expires_at.
func (e *Edit) Clear(fields ...string) *Edit {
	e.patch.Clear = append(e.patch.Clear, fields...)
	return e
}

// Value changes the value to one that JSON takes.
func (e *Edit) Value(v any) *Edit {
	e.patch.Value, e.err = marshal(v)
	return e
}

// Type changes the type if one is given.
func (e *Edit) Type(o Optional[string]) *Edit {
	return change(e, "type", o, func(v string) { e.patch.Type = &v })
}

// Importance changes the importance if one is given.
func (e *Edit) Importance(o Optional[float64]) *Edit {
	return change(e, "importance", o, func(v float64) { e.patch.Importance = &v })
}

// Expires changes when it expires, if that is given.
func (e *Edit) Expires(o Optional[string]) *Edit {
	return change(e, "expires_at", o, func(v string) { e.patch.ExpiresAt = &v })
}

// Tags replaces the tags if some are given, or none in an empty list.
func (e *Edit) Tags(o Optional[[]string]) *Edit {
	return change(e, "tags", o, func(v []string) { e.patch.Tags = append([]string{}, v...) })
}

// AddTags adds tags.
func (e *Edit) AddTags(tags ...string) *Edit {
	e.patch.AddTags = append(e.patch.AddTags, tags...)
	return e
}

// RemoveTags removes tags.
func (e *Edit) RemoveTags(tags ...string) *Edit {
	e.patch.RemoveTags = append(e.patch.RemoveTags, tags...)
	return e
}

// Links replaces the links if some are given, or none in an empty list.
func (e *Edit) Links(o Optional[[]ID]) *Edit {
	return change(e, "links", o, func(v []ID) { e.patch.Links = append([]string{}, e.call.names(v)...) })
}

// State changes the state of its life; empty leaves it.
func (e *Edit) State(state string) *Edit { e.patch.State = state; return e }

// Metadata changes a named value to one that JSON takes; nil removes it.
func (e *Edit) Metadata(name string, value any) *Edit {
	raw, err := marshal(value)
	if e.err == nil {
		e.err = err
	}
	if e.patch.Metadata == nil {
		e.patch.Metadata = Metadata{}
	}
	e.patch.Metadata[name] = raw
	return e
}

// Patch is the change for PatchMemories.
func (e *Edit) Patch() (MemoryPatch, error) { return e.patch, e.err }

// Apply stages the change. It is an error with the code NotFound when there is no such memory.
func (e *Edit) Apply() error {
	if e.err != nil {
		return Errorf(InvalidArgument, "write the change: %v", e.err)
	}
	out, err := e.call.MemoryPatch(MemoryPatchRequest{Patches: []MemoryPatch{e.patch}})
	if err == nil && len(out.Missing) > 0 {
		err = Errorf(NotFound, "there is no memory %v", out.Missing)
	}
	return err
}

// GetMemories reads any number of memories by their keys; those that are missing are nil. An empty namespace is the call's own.
func (c *Call) GetMemories(namespace string, keys []string) (memories []*Memory, err error) {
	err = parts(keys, sizeOfKey, func(part []string) error {
		out, err := c.MemoryGet(MemoryGetRequest{Namespace: namespace, Keys: part})
		memories = append(memories, out.Memories...)
		return err
	})
	return memories, err
}

// States reads the states of any number of memories.
func (c *Call) States(r MemoryStatesRequest) (out MemoryStatesResponse, err error) {
	err = parts(r.Keys, sizeOfKey, func(part []string) error {
		r.Keys = part
		page, err := c.MemoryStates(r)
		out.States, out.Values = append(out.States, page.States...), append(out.Values, page.Values...)
		return err
	})
	return out, err
}

// PutMemories stages any number of memories.
func (c *Call) PutMemories(items []MemoryItem) (stored []MemoryID, err error) {
	size := func(m *MemoryItem) int { return sizeOf(m.Value, m.Metadata, m.Tags, m.Supersedes, m.Links) }
	err = parts(items, size, func(part []MemoryItem) error {
		out, err := c.MemoryPut(MemoryPutRequest{Items: part})
		stored = append(stored, out.Stored...)
		return err
	})
	return stored, err
}

// PatchMemories stages any number of changes of memories.
func (c *Call) PatchMemories(patches []MemoryPatch) (out MemoryPatchResponse, err error) {
	size := func(m *MemoryPatch) int {
		return sizeOf(m.Value, m.Metadata, m.Tags, m.Supersedes, m.Links, m.AddTags, m.RemoveTags)
	}
	err = parts(patches, size, func(part []MemoryPatch) error {
		done, err := c.MemoryPatch(MemoryPatchRequest{Patches: part})
		out.Patched += done.Patched
		out.Missing = append(out.Missing, done.Missing...)
		return err
	})
	return out, err
}

// DeleteMemories stages the deletion of any number of memories. An empty namespace is the call's own.
func (c *Call) DeleteMemories(namespace string, keys []string) (out MemoryDeleteResponse, err error) {
	err = parts(keys, sizeOfKey, func(part []string) error {
		done, err := c.MemoryDelete(MemoryDeleteRequest{Namespace: namespace, Keys: part})
		out.Deleted += done.Deleted
		return err
	})
	return out, err
}

// sizeOf is about how many bytes a memory takes.
func sizeOf(value Raw, metadata Metadata, lists ...[]string) int {
	n := overhead*4 + len(value)
	for key, v := range metadata {
		n += len(key) + len(v) + 4
	}
	for _, list := range lists {
		for _, text := range list {
			n += len(text) + 3
		}
	}
	return n
}
