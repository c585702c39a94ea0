// Package materials tells what a WebAssembly module says of its making: its toolchain, its sections, and the modules of Go in it.
package materials

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
)

// Limits of what is read of a module.
const (
	mostSections = 1000
	mostFields   = 100
	longestText  = 1 << 10 // bytes of a name in a section
	longestBuild = 1 << 20 // bytes of what Go says of a build
	mostSegments = 200_000
)

// Materials are what a module says of its making. Nothing verifies that but a signature of who says it.
type Materials struct {
	Producers []Producer       // in the order of the section producers
	Sections  []Section        // custom ones
	Go        *debug.BuildInfo // nil: no Go made it, or it was stripped of that
}

// Producer is a language, a tool or an SDK, as the WebAssembly tool conventions have them.
type Producer struct {
	Field   string // language, processed-by or sdk
	Name    string
	Version string
}

// Section is a custom section.
type Section struct {
	Name   string
	Bytes  int
	SHA256 string
}

var errCut = errors.New("the module is cut off")

// Of reads the materials of a module.
func Of(module []byte) (m Materials, err error) {
	if len(module) < 8 || string(module[:4]) != "\x00asm" {
		return m, errors.New("it is not a WebAssembly module")
	}
	r := reader(module[8:])
	var data []byte
	for n := 0; len(r) > 0; n++ {
		if n == mostSections {
			return m, fmt.Errorf("it has more than %d sections", mostSections)
		}
		id := r[0]
		r = r[1:]
		content, err := r.sized()
		if err != nil {
			return m, err
		}
		switch id {
		case 0:
			if err := m.custom(content); err != nil {
				return m, err
			}
		case 11:
			data = content
		}
	}
	m.Go, err = buildOf(data)
	for _, p := range m.Producers {
		if m.Go != nil && p.Name == compiler {
			m.Go.GoVersion = p.Version
		}
	}
	return m, err
}

func (m *Materials) custom(content reader) error {
	name, err := content.text()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	m.Sections = append(m.Sections, Section{name, len(content), hex.EncodeToString(sum[:])})
	if name != "producers" {
		return nil
	}
	if m.Producers, err = producers(content); err != nil {
		return fmt.Errorf("read the section producers: %w", err)
	}
	return nil
}

func producers(r reader) (list []Producer, err error) {
	fields, err := r.number()
	for range fields {
		field, failed := r.text()
		values, more := r.number()
		if err = errors.Join(err, failed, more); err != nil {
			return nil, err
		}
		for range values {
			name, failed := r.text()
			version, more := r.text()
			if err = errors.Join(failed, more); err != nil {
				return nil, err
			}
			if list = append(list, Producer{field, name, version}); len(list) > mostFields {
				return nil, fmt.Errorf("it has more than %d entries", mostFields)
			}
		}
	}
	return list, err
}

// reader reads the encoding of modules.
type reader []byte

func (r *reader) number() (uint64, error) {
	n, used := binary.Uvarint(*r)
	if used <= 0 || n > 1<<32 {
		return 0, errCut
	}
	*r = (*r)[used:]
	return n, nil
}

func (r *reader) sized() (reader, error) {
	n, err := r.number()
	if err != nil || n > uint64(len(*r)) {
		return nil, errCut
	}
	content := (*r)[:n]
	*r = (*r)[n:]
	return content, nil
}

func (r *reader) text() (string, error) {
	content, err := r.sized()
	if err == nil && len(content) > longestText {
		err = fmt.Errorf("a name has more than %d bytes", longestText)
	}
	return string(content), err
}

// segment is bytes at an address of the memory.
type segment struct {
	at   uint64
	data []byte
}

// segments reads the active segments of a data section.
func segments(r reader) (list []segment, err error) {
	n, err := r.number()
	if err != nil || n > mostSegments {
		return nil, errors.Join(err, fmt.Errorf("its data has more than %d segments", mostSegments))
	}
	for range n {
		kind, err := r.number()
		if err != nil {
			return nil, err
		}
		at := uint64(0)
		if kind == 2 {
			if _, err := r.number(); err != nil {
				return nil, err
			}
		}
		if kind != 1 {
			if at, err = r.address(); err != nil {
				return nil, err
			}
		}
		data, err := r.sized()
		if err != nil {
			return nil, err
		}
		if kind != 1 {
			list = append(list, segment{at, data})
		}
	}
	return list, nil
}

// address reads an expression that is a constant.
func (r *reader) address() (uint64, error) {
	const i32Const, end = 0x41, 0x0b
	if len(*r) == 0 || (*r)[0] != i32Const {
		return 0, errors.New("a segment of its data has no constant address")
	}
	value, shift := uint64(0), 0
	for i, b := range (*r)[1:] {
		value |= uint64(b&0x7f) << shift
		if shift += 7; b&0x80 == 0 {
			if rest := (*r)[i+2:]; len(rest) > 0 && rest[0] == end {
				*r = rest[1:]
				return value & (1<<32 - 1), nil
			}
			break
		}
		if shift > 35 {
			break
		}
	}
	return 0, errCut
}

// What frames the list of modules that Go links into a program. The header of other platforms is not part of a WebAssembly module.
const (
	listBegins = "0w\xaf\x0c\x92t\x08\x02A\xe1\xc1\x07\xe6\xd6\x18\xe6"
	listEnds   = "\xf92C1\x86\x18 r\x00\x82B\x10A\x16\xd8\xf2"
	compiler   = "Go cmd/compile" // in the section producers
)

// buildOf finds the modules of Go in a data section; nil: there are none.
func buildOf(section []byte) (*debug.BuildInfo, error) {
	if len(section) == 0 {
		return nil, nil
	}
	list, err := segments(section)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		i := bytes.Index(s.data, []byte(listBegins))
		if i < 0 {
			continue
		}
		text, _, ended := bytes.Cut(memory(list, s.at+uint64(i)+uint64(len(listBegins))), []byte(listEnds))
		if !ended {
			return nil, fmt.Errorf("the modules of Go take more than %d bytes, or are cut off", longestBuild)
		}
		info, err := debug.ParseBuildInfo(string(text))
		if err != nil {
			return nil, fmt.Errorf("read the modules of Go: %w", err)
		}
		return info, nil
	}
	return nil, nil
}

// memory are the bytes from an address on, with the zeros that segments leave out.
func memory(list []segment, from uint64) []byte {
	out := make([]byte, longestBuild)
	for _, s := range list {
		end := s.at + uint64(len(s.data))
		if end <= from || s.at >= from+longestBuild {
			continue
		}
		data, at := s.data, uint64(0)
		if s.at < from {
			data = data[from-s.at:]
		} else {
			at = s.at - from
		}
		copy(out[at:], data)
	}
	return out
}
