package backup

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"strings"
)

var (
	errCut = errors.New("its end is missing: it was truncated, or its writing was interrupted")
	// ErrNoPart means that a file is not a part of a backup.
	ErrNoPart = errors.New("it is not a backup of Alcove's")
)

// parser validates a part written to it, and passes runs, contents of blobs and contents of files to its callbacks,
// each of which may be nil. They are valid only if finish returns no error.
type parser struct {
	run     func([]byte) error
	content func(digest string, data []byte) error
	file    func(digest string, data []byte) error
	blobs   blobParser
	files   fileParser

	header Header
	end    end
	bytes  int64

	state  parserState
	need   int // bytes until the next state
	kept   []byte
	kind   byte
	crc    uint32 // so far
	want   uint32
	number uint32
	sum    hash.Hash
	failed error
}

type parserState int

const (
	inMagic parserState = iota
	inFrame             // the header of a frame
	inContent
	atEnd
)

func newParser(run func([]byte) error) *parser {
	return &parser{run: run, need: len(partMagic), sum: sha256.New()}
}

// Write parses the next bytes. After an error it refuses all further ones.
func (p *parser) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0 && p.failed == nil; {
		if p.state == atEnd {
			p.failed = errors.New("something follows its end")
			break
		}
		n := min(p.need, len(rest))
		if p.state == inContent {
			p.crc = crc32.Update(p.crc, castagnoli(), rest[:n])
		}
		if p.state != inContent || p.wanted() {
			p.kept = append(p.kept, rest[:n]...)
		}
		p.need -= n
		p.bytes += int64(n)
		rest = rest[n:]
		if p.need == 0 {
			p.failed = p.step()
		}
	}
	if p.failed != nil {
		return 0, fmt.Errorf("frame %d: %w", p.number, p.failed)
	}
	return len(b), nil
}

// wanted reports whether the frame's content is needed.
func (p *parser) wanted() bool {
	switch p.kind {
	case kindRun:
		return p.run != nil
	case kindContent:
		return p.content != nil || p.inFile()
	}
	return true
}

// inFile reports whether the next content is a file's.
func (p *parser) inFile() bool { return len(p.files.list) > 0 }

// missing returns how many bytes of content are expected next.
func (p *parser) missing() *int64 {
	if p.inFile() {
		return &p.files.missing
	}
	return &p.blobs.missing
}

// finish returns an error unless the part was complete.
func (p *parser) finish() error {
	if p.failed != nil {
		return p.failed
	}
	if p.state == inMagic {
		return ErrNoPart
	}
	if p.state != atEnd {
		return errCut
	}
	return nil
}

// step advances to the next element.
func (p *parser) step() error {
	kept := p.kept
	p.kept = p.kept[:0]
	switch p.state {
	case inMagic:
		return p.begin(string(kept))
	case inFrame:
		return p.frame(kept)
	}
	if p.crc != p.want {
		return errors.New("its sum does not match: it was changed")
	}
	p.state, p.need = inFrame, frameHeader
	p.number++
	switch p.kind {
	case kindHeader:
		if err := json.Unmarshal(kept, &p.header); err != nil {
			return fmt.Errorf("its header: %w", err)
		}
		if p.header.Format != format {
			return fmt.Errorf("its header has the format %d, which its first line has not: it was changed", p.header.Format)
		}
	case kindRun:
		if p.run != nil {
			return p.run(kept)
		}
	case kindBlob:
		if err := p.blobs.next(kept); err != nil {
			return err
		}
		if carried := p.blobs.carried; p.content != nil && p.blobs.empty() {
			return p.content(carried[len(carried)-1], nil)
		}
	case kindFile:
		return p.files.next(kept)
	case kindContent:
		if p.inFile() {
			return p.files.add(kept, p.file)
		}
		if p.content != nil {
			return p.content(p.blobs.carried[len(p.blobs.carried)-1], kept)
		}
	case kindEnd:
		return p.last(kept)
	}
	return nil
}

func (p *parser) begin(magic string) error {
	if magic == partMagic {
		p.state, p.need = inFrame, frameHeader
		return nil
	}
	if magic == earlyStart {
		return ErrEarly
	}
	if strings.HasPrefix(magic, partStart) {
		return fmt.Errorf("it has the format %.1q, and this program knows 1: use a newer program", magic[len(partStart):])
	}
	return ErrNoPart
}

func (p *parser) frame(h []byte) error {
	p.kind, p.want = h[0], binary.BigEndian.Uint32(h[9:])
	number, length := binary.BigEndian.Uint32(h[1:]), binary.BigEndian.Uint32(h[5:])
	limit := uint32(frameJSON)
	if p.kind == kindRun || p.kind == kindContent {
		limit = frameRun
	}
	if (p.number == 0) != (p.kind == kindHeader) || (*p.missing() > 0) != (p.kind == kindContent) || !p.expects(p.kind) {
		return fmt.Errorf("a frame of kind %q is not expected here", p.kind)
	}
	if number != p.number || length == 0 || length > limit {
		return fmt.Errorf("the next frame says that it is number %d, and has %d bytes of at most %d", number, length, limit)
	}
	if p.kind == kindContent {
		if *p.missing() -= int64(length); *p.missing() < 0 {
			return errors.New("a blob or file is longer than was said")
		}
	}
	if p.kind == kindEnd {
		p.end.SHA256 = hex.EncodeToString(p.sum.Sum(nil))
	}
	p.sum.Write(h)
	p.crc = crc32.Checksum(h[:9], castagnoli())
	p.state, p.need = inContent, int(length)
	return nil
}

// expects reports whether a part may have such a frame here: files come last.
func (p *parser) expects(kind byte) bool {
	switch kind {
	case kindHeader, kindFile, kindContent, kindEnd:
		return true
	case kindRun, kindBlob:
		return !p.inFile()
	}
	return false
}

func (p *parser) last(content []byte) error {
	var e end
	if err := json.Unmarshal(content, &e); err != nil {
		return fmt.Errorf("its end: %w", err)
	}
	if e.SHA256 != p.end.SHA256 || e.Frames != p.number-1 {
		return fmt.Errorf("it has %d frames with the sum %s, and should have %d with %s: it was changed", p.number-1, p.end.SHA256, e.Frames, e.SHA256)
	}
	p.end, p.state = e, atEnd
	return nil
}
