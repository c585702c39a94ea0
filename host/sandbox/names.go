package sandbox

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// Bounds of the names that are taken from a module for its author to read.
const (
	longestName         = 120       // bytes
	mostNames           = 50_000    // functions
	longestSection      = 4 << 20   // bytes of a section of names
	nameSection         = "name"    // of custom sections
	subsectionFunctions = byte(0x1) // of its subsections
)

// FunctionNames returns the names that a module's name section has for functions, by the index that traces of traps show. A module
// without the section has none.
func FunctionNames(module []byte) map[uint32]string {
	m, err := wasm.Decode(module, structural())
	if err != nil {
		return nil
	}
	imported := m.Imported(wasm.KindFunc)
	return functionNames(module, func(index uint32) uint32 {
		if index >= imported { // metering inserts a function there
			index++
		}
		return index
	})
}

// functionNames returns the names in the name section, by indexes that moved computes.
func functionNames(module []byte, moved func(uint32) uint32) map[uint32]string {
	var section []byte
	if sections(module, func(_, name, data []byte) bool {
		if string(name) == nameSection && len(data) <= longestSection {
			section = data
		}
		return section == nil
	}) != nil || section == nil {
		return nil
	}
	for len(section) > 0 {
		id := section[0]
		content, rest, err := cutSized(section[1:])
		if err != nil {
			return nil
		}
		if section = rest; id == subsectionFunctions {
			return namesIn(content, moved)
		}
	}
	return nil
}

// namesIn reads a map of names.
func namesIn(data []byte, moved func(uint32) uint32) map[uint32]string {
	count, n := binary.Uvarint(data)
	if n <= 0 {
		return nil
	}
	names := map[uint32]string{}
	data = data[n:]
	for range min(count, mostNames) {
		index, n := binary.Uvarint(data)
		if n <= 0 {
			return names
		}
		name, rest, err := cutSized(data[n:])
		if err != nil {
			return names
		}
		data = rest
		names[moved(uint32(index))] = strings.ToValidUTF8(string(name[:min(len(name), longestName)]), "?")
	}
	return names
}

// NameTrace puts the names of functions into the trace of a trap.
func NameTrace(trace string, names map[uint32]string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(trace, ".$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		digits := 0
		for digits < len(after) && after[digits] >= '0' && after[digits] <= '9' {
			digits++
		}
		index, err := strconv.ParseUint(after[:digits], 10, 32)
		if name := names[uint32(index)]; err == nil && name != "" {
			out.WriteString(name)
		} else {
			out.WriteString(".$" + after[:digits])
		}
		trace = after[digits:]
	}
}
