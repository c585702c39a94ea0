package project

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofrs/flock"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
)

// Limits of what is kept of projects.
const (
	mostBytes  = 1 << 20
	mostLinks  = 2_000 // folders
	mostFormer = 2_000 // names
	mostMoves  = 50    // of which the oldest are forgotten
	mostFolder = 1 << 10
)

// FileName is what the file of Names is called in a data directory.
const FileName = "projects.json"

// Names are what the owner says about projects. The zero value says nothing: a project is named by its folder.
type Names struct {
	Links   map[string]string `json:"links,omitempty"`   // projects, by folder: the folder and those below it belong to one
	Renamed map[string]string `json:"renamed,omitempty"` // what projects are called now, by former name; never a former name itself
	Moves   []Move            `json:"moves,omitempty"`   // of memories from one name to another, oldest first
}

// Move is a rename or merge of projects.
type Move struct {
	ID     string    `json:"id"` // the call by which memories are moved
	From   string    `json:"from"`
	To     string    `json:"to"`
	At     time.Time `json:"at"`
	Links  []string  `json:"links,omitempty"`  // folders that were linked to From
	Former []string  `json:"former,omitempty"` // names that led to From
	Was    string    `json:"was,omitempty"`    // where To led to; empty: nowhere
}

// Why says what a folder's project was told by.
type Why string

// The reasons.
const (
	ByLink   Why = "link"   // the owner linked the folder, or one above it
	ByRemote Why = "remote" // the repository's remote "origin"
	ByFolder Why = "folder" // the path of the repository, or of the folder
)

// Place is the project of a folder, and why.
type Place struct {
	Namespace  string // empty: none is known
	Why        Why
	Folder     string // that was linked, or the root of the repository, or the folder itself
	Repository bool   // the folder is in one
	Former     string // the name before a rename; empty: it was not renamed
}

// Of returns the project of a folder.
func (n Names) Of(folder string) Place { return n.place(folder, "") }

// Namespace returns the namespace of the project of a folder, or, if the folder is not linked, of the one that a transcript names.
func (n Names) Namespace(folder, named string) string { return n.place(folder, named).Namespace }

func (n Names) place(folder, named string) Place {
	if linked, name := n.linked(folder); name != "" {
		return n.current(Place{Namespace: name, Why: ByLink, Folder: linked})
	}
	if named != "" {
		return n.current(Place{Namespace: named, Why: ByRemote, Folder: folder})
	}
	if folder == "" {
		return Place{}
	}
	root, config := repository(folder)
	if linked, name := n.linked(root); name != "" { // of a worktree's repository
		return n.current(Place{Namespace: name, Why: ByLink, Folder: linked, Repository: true})
	}
	p := Place{Namespace: OfRemote(origin(config)), Why: ByRemote, Folder: root, Repository: config != nil}
	if p.Namespace == "" {
		p.Namespace, p.Why = ofPath(root), ByFolder
	}
	return n.current(p)
}

func (n Names) current(p Place) Place {
	if now := n.Renamed[p.Namespace]; now != "" {
		p.Former, p.Namespace = p.Namespace, now
	}
	return p
}

// linked returns the nearest linked folder at or above a folder, and its project.
func (n Names) linked(folder string) (linked, name string) {
	if folder == "" || len(n.Links) == 0 {
		return "", ""
	}
	if linked, name = n.linkedAbove(tidy(folder)); name != "" || isElsewhere(folder) {
		return linked, name
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", "" // it is gone
	}
	return n.linkedAbove(real)
}

func (n Names) linkedAbove(folder string) (linked, name string) {
	for {
		if name := n.Links[folder]; name != "" {
			return folder, name
		}
		up := above(folder)
		if up == folder {
			return "", ""
		}
		folder = up
	}
}

// tidy is the form in which folders are linked: of this machine, or of another whose transcripts are here.
func tidy(folder string) string {
	if filepath.IsAbs(folder) {
		return filepath.Clean(folder)
	}
	return strings.TrimRight(folder, `/\`)
}

func above(folder string) string {
	if filepath.IsAbs(folder) {
		return filepath.Dir(folder)
	}
	return folder[:max(0, strings.LastIndexAny(folder, `/\`))]
}

// Called returns the namespace of a project that a user names: with or without Prefix.
func Called(name string) (string, error) {
	short := strings.TrimPrefix(name, Prefix)
	full := Prefix + short
	if short == "" || short != strings.Trim(short, "/") || strings.ContainsFunc(short, isForeign) || len(full) > longest {
		return "", fmt.Errorf("%.60q is not a name of a project: give one of letters, digits and . _ / -, of at most %d characters, such as acme/app",
			name, longest-len(Prefix))
	}
	return full, nil
}

// isForeign reports whether a character may not be in a namespace.
func isForeign(r rune) bool {
	return (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)) && !strings.ContainsRune("._/-", r)
}

// Link says that a folder, and those below it, belong to a project.
func (n *Names) Link(folder, name string) error {
	folder = tidy(folder)
	if err := checkFolder(folder); err != nil {
		return err
	}
	if err := checkName(name); err != nil {
		return err
	}
	if _, known := n.Links[folder]; !known && len(n.Links) >= mostLinks {
		return fmt.Errorf("%d folders are linked, which is the limit: link a folder above them, or unlink some", mostLinks)
	}
	n.Links = with(n.Links, folder, cmp.Or(n.Renamed[name], name))
	return nil
}

// Unlink forgets the link of a folder, and returns the project that it was linked to; empty: it was not linked.
func (n *Names) Unlink(folder string) (name string) {
	folder = tidy(folder)
	name = n.Links[folder]
	delete(n.Links, folder)
	return name
}

// Rename makes a project's name, and whatever led to it, lead to another, and notes the move.
func (n *Names) Rename(m Move) error {
	if len(n.Renamed) >= mostFormer {
		return fmt.Errorf("%d projects were renamed, which is the limit: delete former names from %s", mostFormer, FileName)
	}
	m.Was = n.Renamed[m.To]
	delete(n.Renamed, m.To) // it is a name again
	for former, now := range n.Renamed {
		if now == m.From {
			m.Former = append(m.Former, former)
		}
	}
	for folder, name := range n.Links {
		if name == m.From {
			m.Links = append(m.Links, folder)
		}
	}
	slices.Sort(m.Former)
	slices.Sort(m.Links)
	n.point(m, m.From, m.To)
	n.Renamed = with(n.Renamed, m.From, m.To)
	n.Moves = append(n.Moves, m)
	n.Moves = n.Moves[max(0, len(n.Moves)-mostMoves):]
	return nil
}

// Undo takes back what Rename did, as far as nothing else was said since.
func (n *Names) Undo(id string) {
	i := slices.IndexFunc(n.Moves, func(m Move) bool { return m.ID == id })
	if i < 0 {
		return
	}
	m := n.Moves[i]
	if n.Renamed[m.From] == m.To {
		delete(n.Renamed, m.From)
		n.point(m, m.To, m.From)
		if m.Was != "" {
			n.Renamed = with(n.Renamed, m.To, m.Was)
		}
	}
	n.Moves = slices.Delete(n.Moves, i, i+1)
}

// point makes what led to the first name of a move lead to another one, unless it leads elsewhere by now.
func (n *Names) point(m Move, from, to string) {
	for _, former := range m.Former {
		if n.Renamed[former] == from {
			n.Renamed[former] = to
		}
	}
	for _, folder := range m.Links {
		if n.Links[folder] == from {
			n.Links[folder] = to
		}
	}
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

func checkFolder(folder string) error {
	isControl := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError }
	isAbs := filepath.IsAbs(folder) || strings.HasPrefix(folder, "/") || len(folder) > 2 && folder[1] == ':'
	switch {
	case !isAbs || isElsewhere(folder):
		return fmt.Errorf("%.60q is not an absolute path of a folder of a machine", folder)
	case len(folder) > mostFolder:
		return fmt.Errorf("the path of a folder has %d bytes: at most %d are allowed", len(folder), mostFolder)
	case !utf8.ValidString(folder) || strings.ContainsFunc(folder, isControl):
		return fmt.Errorf("the path %.60q has characters that are not shown, which no folder of a project may have", folder)
	}
	return nil
}

// check returns an error for names that this package would not have written.
func (n Names) check() error {
	if len(n.Links) > mostLinks || len(n.Renamed) > mostFormer || len(n.Moves) > mostMoves {
		return fmt.Errorf("more than %d links, %d former names or %d moves", mostLinks, mostFormer, mostMoves)
	}
	for folder, name := range n.Links {
		if err := errors.Join(checkFolder(folder), checkName(name)); err != nil {
			return err
		}
	}
	for former, now := range n.Renamed {
		if err := errors.Join(checkName(former), checkName(now)); err != nil {
			return err
		}
		if n.Renamed[now] != "" {
			return fmt.Errorf("%s leads to %s, which is a former name, too", former, now)
		}
	}
	for _, m := range n.Moves {
		if err := errors.Join(checkName(m.From), checkName(m.To)); err != nil {
			return err
		}
		if len(m.ID) > longest || strings.ContainsFunc(m.ID, isForeign) {
			return fmt.Errorf("%.60q is not an id of a move", m.ID)
		}
	}
	return nil
}

func checkName(name string) error {
	full, err := Called(name)
	if err == nil && full != name {
		err = fmt.Errorf("%q does not begin with %s", name, Prefix)
	}
	return err
}

// Read reads the names in a file. One that does not exist says nothing.
func Read(path string) (n Names, err error) {
	data, err := regular.Read(path, mostBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err == nil {
		n, err = parse(data)
	}
	if err != nil {
		return Names{}, fmt.Errorf("read what projects are called from %s: %w (delete the file to name them by their folders again)", path, err)
	}
	return n, nil
}

func parse(data []byte) (n Names, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&n); err != nil {
		return Names{}, err
	}
	if d.More() {
		return Names{}, errors.New("there is more after the object")
	}
	if err := n.check(); err != nil {
		return Names{}, err
	}
	return n, nil
}

// lockEvery is how often a change looks whether another one is done.
const lockEvery = 20 * time.Millisecond

// Update changes the names in a file. Changes wait for each other, and after a crash the file is as it was before one, or after it.
func Update(ctx context.Context, path string, change func(*Names) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep what projects are called: %w", err)
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockEvery); err != nil {
		return fmt.Errorf("wait for another change of %s: %w", path, err)
	}
	defer lock.Close()
	n, err := Read(path)
	if err != nil {
		return err
	}
	if err := change(&n); err != nil {
		return err
	}
	data, err := json.MarshalIndent(n, "", "\t")
	if err != nil {
		return fmt.Errorf("keep what projects are called: %w", err)
	}
	if len(data) >= mostBytes {
		return fmt.Errorf("keep what projects are called: %s would have more than %d bytes: unlink folders", path, mostBytes)
	}
	if err := durable.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep what projects are called: %w", err)
	}
	return nil
}

// Folders returns the folders that are linked to a project, sorted.
func (n Names) Folders(name string) (folders []string) {
	for _, folder := range slices.Sorted(maps.Keys(n.Links)) {
		if n.Links[folder] == name {
			folders = append(folders, folder)
		}
	}
	return folders
}

// FormerOf returns the former names of a project, sorted.
func (n Names) FormerOf(name string) (former []string) {
	for _, was := range slices.Sorted(maps.Keys(n.Renamed)) {
		if n.Renamed[was] == name {
			former = append(former, was)
		}
	}
	return former
}
