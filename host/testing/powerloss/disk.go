package powerloss

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// disk is what a file system knows while a process works on it: what is safe, and what is only on its way.
type disk struct {
	path    string
	root    *node
	lie     func(name string) bool
	offsets map[string]int64    // by file descriptor
	begun   map[*call]*change   // writes that have not ended
	covered map[*call][]*change // what a sync that has not ended will make safe
	moved   map[*call]int       // the same of a directory: how many of its moves
	said    []byte
}

// node is a file or a directory.
type node struct {
	safe    []byte    // a file's content that is on the disk
	pending []*change // what was written since, in order

	names map[string]*node // a directory's entries, as the process sees them; nil for a file
	kept  map[string]*node // its entries that are on the disk
	moves []move           // what happened to it since, in order
}

// change is a write to a file, or where data is nil its new size.
type change struct {
	at   int64
	data []byte
	done bool
}

// move is one change of a directory, which happens as a whole or not at all.
type move struct {
	name string
	node *node  // nil: the name goes
	from string // the name that goes at the same time; empty: none
}

func newDisk(path string, lie func(name string) bool) *disk {
	if lie == nil {
		lie = func(string) bool { return false }
	}
	return &disk{path: path, root: newDir(), lie: lie, offsets: map[string]int64{}, begun: map[*call]*change{},
		covered: map[*call][]*change{}, moved: map[*call]int{}}
}

func newDir() *node { return &node{names: map[string]*node{}, kept: map[string]*node{}} }

// find is what is at a path: its directory, its name there, and the node, if any. dir is nil outside of the root.
func (d *disk) find(path string) (dir *node, name string, found *node) {
	rest, inside := strings.CutPrefix(path, d.path)
	if !inside || rest != "" && rest[0] != filepath.Separator {
		return nil, "", nil
	}
	found = d.root
	for _, name = range strings.FieldsFunc(rest, func(r rune) bool { return r == filepath.Separator }) {
		dir = found
		if dir == nil || dir.names == nil {
			return nil, "", nil
		}
		found = dir.names[name]
	}
	return dir, name, found
}

// apply takes in the begin or the end of a call.
func (d *disk) apply(m mark) error {
	c := m.call
	if !m.end && !c.open && c.failed() || m.end && c.failed() {
		return nil
	}
	switch c.name {
	case "write", "pwrite64":
		return d.write(m)
	case "fsync", "fdatasync":
		return d.sync(m)
	}
	if !m.end {
		return nil
	}
	switch c.name {
	case "ftruncate":
		return d.truncate(c)
	case "openat":
		return d.openFile(c)
	case "mkdirat":
		return d.place(c, 0, newDir())
	case "unlinkat":
		return d.place(c, 0, nil)
	case "renameat":
		return d.rename(c)
	case "linkat":
		return d.link(c)
	}
	if strings.Contains(strings.Join(c.args, ","), hexed(d.path)) {
		return fmt.Errorf("%s is not followed: %.300s", c.name, c.args)
	}
	return nil
}

// hexed is a path as strace writes it.
func hexed(path string) string {
	var out strings.Builder
	for i := range len(path) {
		fmt.Fprintf(&out, `\x%02x`, path[i])
	}
	return out.String()
}

const (
	standardOutput = "1"
	largest        = 1 << 32 // bytes of a file
)

func (d *disk) write(m mark) error {
	c := m.call
	if m.end {
		if made := d.begun[c]; made != nil {
			made.done = true
			delete(d.begun, c)
		}
		return nil
	}
	fd, path, err := c.file(0)
	if err != nil {
		return err
	}
	data, err := c.bytes(1)
	if err != nil {
		return err
	}
	_, _, file := d.find(path)
	switch {
	case file == nil && fd == standardOutput:
		d.said = append(d.said, data...)
		return nil
	case file == nil:
		return nil
	}
	made := &change{data: data}
	if c.name == "pwrite64" {
		made.at, err = c.number(3)
	} else {
		made.at = d.offsets[fd]
		d.offsets[fd] += int64(len(data))
	}
	if made.at < 0 || made.at > largest {
		return fmt.Errorf("%s writes at %d, which is not followed", c.name, made.at)
	}
	if written, _ := strconv.Atoi(c.result); err == nil && !c.open && written != len(data) {
		return fmt.Errorf("%s wrote %s of %d bytes, which is not followed", c.name, c.result, len(data))
	}
	file.pending = append(file.pending, made)
	d.begun[c] = made
	return err
}

func (d *disk) truncate(c *call) error {
	_, path, err := c.file(0)
	if err != nil {
		return err
	}
	size, err := c.number(1)
	if size < 0 || size > largest {
		return fmt.Errorf("%s to %d bytes is not followed", c.name, size)
	}
	if _, _, file := d.find(path); file != nil {
		file.pending = append(file.pending, &change{at: size, done: true})
	}
	return err
}

// sync makes safe, when it ends, what had been done when it began.
func (d *disk) sync(m mark) error {
	c := m.call
	_, path, err := c.file(0)
	if err != nil {
		return err
	}
	_, _, found := d.find(path)
	if found == nil || d.lie(strings.TrimPrefix(strings.TrimPrefix(path, d.path), "/")) {
		return nil
	}
	if !m.end {
		d.moved[c] = len(found.moves)
		for _, made := range found.pending {
			if made.done {
				d.covered[c] = append(d.covered[c], made)
			}
		}
		return nil
	}
	if found.names != nil {
		found.keep(d.moved[c])
	}
	for _, made := range d.covered[c] {
		if i := slices.Index(found.pending, made); i >= 0 { // another sync may have been faster
			found.safe = made.apply(found.safe, everything)
			found.pending = slices.Delete(found.pending, i, i+1)
		}
	}
	delete(d.covered, c)
	delete(d.moved, c)
	return nil
}

// keep makes the first moves of a directory safe.
func (n *node) keep(count int) {
	for _, m := range n.moves[:count] {
		m.apply(n.kept)
	}
	n.moves = slices.Clone(n.moves[count:])
}

func (m move) apply(names map[string]*node) {
	if m.from != "" {
		delete(names, m.from)
	}
	if m.node == nil {
		delete(names, m.name)
		return
	}
	names[m.name] = m.node
}

func (d *disk) openFile(c *call) error {
	fd, _, err := descriptor(c.result)
	if err != nil {
		return err
	}
	d.offsets[fd] = 0
	path, err := c.path(0)
	if err != nil || len(c.args) < 3 {
		return errors.Join(err, errors.New("opened without flags"))
	}
	dir, name, found := d.find(path)
	flags := strings.Split(c.args[2], "|")
	switch {
	case dir == nil:
		return nil
	case found == nil && slices.Contains(flags, "O_CREAT"):
		dir.move(move{name: name, node: &node{}})
		return nil
	case found == nil:
		return fmt.Errorf("%s was opened and not made", path)
	case slices.Contains(flags, "O_APPEND"):
		return errors.New("appending is not followed")
	case slices.Contains(flags, "O_TRUNC"):
		found.pending = append(found.pending, &change{done: true})
	}
	return nil
}

// move changes a directory, for the process at once.
func (n *node) move(m move) {
	m.apply(n.names)
	n.moves = append(n.moves, m)
}

// place puts a node under the path at argument i, or removes what is there.
func (d *disk) place(c *call, i int, what *node) error {
	path, err := c.path(i)
	if err != nil {
		return err
	}
	if dir, name, _ := d.find(path); dir != nil {
		dir.move(move{name: name, node: what})
	}
	return nil
}

func (d *disk) rename(c *call) error {
	from, err := c.path(0)
	if err != nil {
		return err
	}
	to, err := c.path(2)
	if err != nil {
		return err
	}
	fromDir, fromName, found := d.find(from)
	toDir, toName, _ := d.find(to)
	switch {
	case fromDir == nil && toDir == nil:
		return nil
	case fromDir == nil || toDir == nil || found == nil:
		return fmt.Errorf("renaming %s to %s is not followed", from, to)
	case fromDir != toDir: // of two directories either may be on the disk first: the file may have both names, or none
		toDir.move(move{name: toName, node: found})
		fromDir.move(move{name: fromName})
		return nil
	}
	fromDir.move(move{name: toName, node: found, from: fromName})
	return nil
}

// link gives a file another name.
func (d *disk) link(c *call) error {
	from, err := c.path(0)
	if err != nil {
		return err
	}
	_, _, found := d.find(from)
	if found == nil || found.names != nil {
		return fmt.Errorf("linking %s is not followed", from)
	}
	return d.place(c, 2, found)
}

// everything keeps each part of a write.
func everything(int64) bool { return true }

// apply is content after a write of which only some parts arrived; keep is asked for each byte's place.
func (made *change) apply(content []byte, keep func(at int64) bool) []byte {
	if made.data == nil {
		if !keep(made.at) {
			return content
		}
		return resize(content, made.at)
	}
	for i, b := range made.data {
		at := made.at + int64(i)
		if !keep(at) {
			continue
		}
		if at >= int64(len(content)) {
			content = resize(content, at+1)
		}
		content[at] = b
	}
	return content
}

func resize(content []byte, size int64) []byte {
	if size <= int64(len(content)) {
		return content[:size]
	}
	return append(content, make([]byte, size-int64(len(content)))...)
}

// copyOf is a directory's entries as they are on the disk.
func (n *node) copyOf() map[string]*node { return maps.Clone(n.kept) }
