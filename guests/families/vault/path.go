package vault

import (
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Limits of paths.
const (
	longestSlug = 80  // characters
	slugBytes   = 180 // names of files have at most 255
	mostOfADay  = 20_000
	suffix      = ".md"
)

// conflictSuffix is the end of files with both texts of a conflict. They are not imported.
const conflictSuffix = ".conflict.md"

// folders are where facts of a type are. All others are notes.
func folder(kind string) string {
	switch kind {
	case "decision", "observation", "insight", "plan", "error":
		return kind + "s"
	case "learning":
		return "insights"
	case "correction":
		return "errors"
	case "session_summary":
		return "sessions"
	}
	return "notes"
}

// typeIn is the type of a new note in a folder.
func typeIn(path string) string {
	for _, kind := range []string{"decision", "observation", "insight", "plan", "error"} {
		if strings.Contains("/"+path, "/"+kind+"s/") {
			return kind
		}
	}
	if strings.Contains("/"+path, "/sessions/") {
		return "session_summary"
	}
	return "note"
}

// slug is a text as a part of a file's name: its letters and digits in lower case, with a dash for all between them.
func slug(text string, characters int) string {
	out, dash, n := []byte(nil), false, 0
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			dash = len(out) > 0
			continue
		}
		more := 1
		if dash {
			more++
		}
		if n += more; n > characters || len(out)+more+utf8.UTFMax > slugBytes {
			break
		}
		if dash {
			out, dash = append(out, '-'), false
		}
		out = utf8.AppendRune(out, unicode.ToLower(r))
	}
	if len(out) == 0 {
		return "untitled"
	}
	return string(out)
}

// scopeFolder is a namespace as folders. Names that no folder should have get an underscore.
func scopeFolder(namespace string) string {
	names := strings.Split(namespace, "/")
	for i, name := range names {
		base, _, _ := strings.Cut(name, ".")
		switch strings.ToLower(base) {
		case "", "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9":
			name = "_" + name
		}
		if strings.HasSuffix(name, ".") {
			name += "_"
		}
		names[i] = name
	}
	return strings.Join(names, "/")
}

// plainPath is the path of a memory's file if no other has the same.
func plainPath(m *alcove.Memory) string {
	kind := m.Type
	if kind == "" {
		kind = "note"
	}
	day := m.Created
	if len(day) > len("2006-01-02") {
		day = day[:len("2006-01-02")]
	}
	return scopeFolder(m.Namespace) + "/" + folder(m.Type) + "/" + day + "-" + slug(kind, 30) + "-" + slug(m.Text(), longestSlug) + suffix
}

// apart is a path with a part of the id in it.
func apart(path string, id alcove.ID) string {
	h := fnv.New32a()
	h.Write([]byte(id.String()))
	text := strconv.FormatUint(uint64(h.Sum32()>>8), 16)
	return strings.TrimSuffix(path, suffix) + "-" + strings.Repeat("0", 6-len(text)) + text + suffix
}

// paths gives memories the paths of their files: of several that would have the same, the oldest has it, and others a part of their id.
type paths struct {
	c    *alcove.Call
	days map[string]map[string]alcove.ID // who has a path, by namespace and day
}

// of is the path of a memory, which came with when it was created.
func (p *paths) of(m *alcove.Memory) (string, error) {
	path := plainPath(m)
	if len(m.Created) < len("2006-01-02") {
		return apart(path, m.ID()), nil
	}
	owners, err := p.owners(m.Namespace, m.Created[:len("2006-01-02")])
	if err != nil {
		return "", err
	}
	if owners[path] == m.ID() {
		return path, nil
	}
	return apart(path, m.ID()), nil
}

// owners are the memories that have the paths of a day.
func (p *paths) owners(namespace, day string) (map[string]alcove.ID, error) {
	if known := p.days[namespace+" "+day]; known != nil {
		return known, nil
	}
	begin, err := alcove.ParseTime(day + "T00:00:00Z")
	if err != nil {
		return nil, err
	}
	owners, n := map[string]alcove.ID{}, 0
	filter := active()
	filter.CreatedSince, filter.CreatedUntil = begin.String(), begin.Add(alcove.Day).String()
	for m, err := range p.c.Memories(alcove.MemoryListRequest{Namespace: namespace, Filter: filter, Order: "oldest", Created: true, Limit: pageLimit}) {
		if err != nil {
			return nil, err
		}
		if path := plainPath(m); owners[path].IsZero() {
			owners[path] = m.ID()
		}
		if n++; n == mostOfADay {
			break
		}
	}
	if p.days == nil {
		p.days = map[string]map[string]alcove.ID{}
	}
	p.days[namespace+" "+day] = owners
	return owners, nil
}

// pageLimit is how many memories are listed at once.
const pageLimit = 500

func active() *alcove.MemoryFilter { return &alcove.MemoryFilter{States: []string{"active"}} }
