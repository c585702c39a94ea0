package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// internedLog is the stored form of a table's interned values: records in the order in which the values got their numbers, each a kind and
// its numbers and texts.
type internedLog struct {
	data   []byte
	logged [kindsOfInterned]int // values, by kind
}

// Kinds of interned values.
const (
	spaceKind = iota
	facetKind
	sessionKind
	speakerKind
	tagKind
	agentKind
	fieldKind
	kindsOfInterned
)

// logInterned adds the values that are new to the log.
func (t *table) logInterned() {
	l := &t.log
	for _, s := range t.spaces[l.logged[spaceKind]:] {
		l.add(spaceKind, 0, s.namespace, s.collection)
	}
	for _, f := range t.facets[l.logged[facetKind]:] {
		l.add(facetKind, f.space, f.state, f.kind)
	}
	for _, s := range t.sessions[l.logged[sessionKind]:] {
		l.add(sessionKind, s.space, s.name, "")
	}
	for _, terms := range t.speakers[l.logged[speakerKind]:] {
		l.add(speakerKind, 0, strings.Join(terms, " "), "")
	}
	for kind, list := range map[int][]string{tagKind: t.tags, agentKind: t.agents, fieldKind: t.fields} {
		for _, text := range list[l.logged[kind]:] {
			l.add(kind, 0, text, "")
		}
	}
}

func (l *internedLog) add(kind int, number uint32, first, second string) {
	l.logged[kind]++
	l.data = append(l.data, byte(kind))
	l.data = binary.AppendUvarint(l.data, uint64(number))
	for _, text := range []string{first, second} {
		l.data = binary.AppendUvarint(l.data, uint64(len(text)))
		l.data = append(l.data, text...)
	}
}

var errInterned = errors.New("the interned values are damaged")

// readInterned interns the values of a log.
func (t *table) readInterned(data []byte) error {
	r := &payloadReader{in: data}
	for len(r.in) > 0 && !r.bad {
		kind, number, first, second := r.next(1)[0], uint32(r.uint()), r.bytes(), r.bytes()
		switch kind {
		case spaceKind:
			t.spaceNumber(first, second)
		case facetKind:
			t.facetNumber(facet{number, first, second})
		case sessionKind:
			t.sessionNumber(sessionName{number, first})
		case speakerKind:
			t.speakerNumber(strings.Fields(first))
		case tagKind:
			t.tagNumber(first)
		case agentKind:
			t.agentNumber(first)
		case fieldKind:
			internText(t.fieldOf, &t.fields, first)
		default:
			return errInterned
		}
	}
	if r.bad {
		return errInterned
	}
	t.logInterned()
	return nil
}

// blank replaces the interned values that no row has any more, whose numbers stay taken.
func (t *table) blank() {
	var used [kindsOfInterned]bitset
	for number := range t.rows.Len() {
		r := t.row(number)
		if r.name == none {
			continue
		}
		used[spaceKind].add(t.names.At(r.name).space)
		if r.gone {
			continue
		}
		used[facetKind].add(r.facet)
		used[agentKind].add(r.agent)
		if turn := t.turnOf(number); turn != nil {
			used[sessionKind].add(turn.session)
			used[speakerKind].add(turn.speaker)
		}
		if r.extra == none {
			continue
		}
		t.extras.eachTag(r.extra, func(tag uint32) bool {
			used[tagKind].add(tag)
			return true
		})
		t.extras.eachField(r.extra, func(f storedField) bool {
			used[fieldKind].add(f.name)
			return true
		})
	}
	t.spaces = slices.Clone(t.spaces) // columns that are being sorted have the former ones
	for i, s := range t.spaces {
		if blank := blankOf(i); !used[spaceKind].has(uint32(i)) {
			delete(t.spaceOf, s)
			t.spaces[i] = space{blank, s.collection}
			t.spaceOf[t.spaces[i]] = uint32(i)
		}
	}
	for i, f := range t.facets {
		if blank := blankOf(i); !used[facetKind].has(uint32(i)) {
			delete(t.facetOf, f)
			t.facets[i] = facet{space: f.space, kind: blank}
			t.facetOf[t.facets[i]] = uint32(i)
		}
	}
	for i, s := range t.sessions {
		if blank := blankOf(i); !used[sessionKind].has(uint32(i)) {
			delete(t.sessionOf, s)
			t.sessions[i] = sessionName{s.space, blank}
			t.sessionOf[t.sessions[i]] = uint32(i)
		}
	}
	for i := range t.speakers {
		if !used[speakerKind].has(uint32(i)) {
			t.blankSpeaker(uint32(i))
		}
	}
	blankTexts(t.tagOf, t.tags, used[tagKind])
	blankTexts(t.agentOf, t.agents, used[agentKind])
	blankTexts(t.fieldOf, t.fields, used[fieldKind])
	t.log = internedLog{}
	t.logInterned()
}

// blankOf returns the placeholder of an unused value: no value begins like it.
func blankOf(number int) string { return fmt.Sprintf("\x00%d", number) }

func blankTexts(numbers map[string]uint32, list []string, used bitset) {
	for i, text := range list {
		if !used.has(uint32(i)) {
			delete(numbers, text)
			list[i] = blankOf(i)
			numbers[list[i]] = uint32(i)
		}
	}
}

func (t *table) blankSpeaker(number uint32) {
	delete(t.speakerOf, strings.Join(t.speakers[number], " "))
	for _, term := range t.speakers[number] {
		list := t.speakersWith[term]
		for i := len(list) - 1; i >= 0; i-- {
			if list[i] == number {
				list = append(list[:i:i], list[i+1:]...)
			}
		}
		if t.speakersWith[term] = list; len(list) == 0 {
			delete(t.speakersWith, term)
		}
	}
	blank := blankOf(int(number))
	t.speakers[number] = []string{blank}
	t.speakerOf[blank] = number
	t.speakersWith[blank] = []uint32{number}
}
