package remote

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/provenance"
)

// Limits of received data.
const (
	longestBody  = 16 << 20 // bytes of a request or of an answer, compressed
	longestPage  = 96 << 20 // of a page, decompressed
	longestLine  = 24 << 20 // of a version: an escaped value of 1 MiB and the rest
	largestFrame = 8 << 20  // window of the decompressor, in bytes
	mostVersions = 1000     // of a page
	pageBytes    = 2 << 20  // a page ends after values of this size
	longestToken = 8 << 10
)

// header is the first line of a page.
type header struct {
	Alcove   string               `json:"alcove"` // "versions"
	Format   int                  `json:"format"` // 1
	Space    string               `json:"space"`  // the sender's
	Branch   string               `json:"branch"`
	At       uint64               `json:"at"` // the sender's version of the page
	Scope    provenance.Scope     `json:"scope"`
	Known    provenance.Knowledge `json:"known"`              // the sender's knowledge
	Strategy memory.Strategy      `json:"strategy,omitempty"` // of a push
	Mark     memory.CountMark     `json:"mark,omitempty"`     // of the sender's counters or records, of which this is the last page
	// Shared and Collections are of a page of records: whether all branches share them, and which are exchanged.
	Shared      bool     `json:"shared,omitempty"`
	Collections []string `json:"collections,omitempty"`
}

// trailer is the last line of a page. A truncated page has none.
type trailer struct {
	End      bool   `json:"end"`
	Versions int    `json:"versions"`
	Next     string `json:"next,omitempty"` // continues after this page; empty: it is the last
}

// page is a page of an exchange.
type page struct {
	header
	versions []memory.Exchanged
	counts   []memory.Replicated
	records  []memory.ExchangedRecord
	next     string
}

func (p *page) lines() int { return len(p.versions) + len(p.counts) + len(p.records) }

// countsLine is a line with counters, or with a record of a family.
type countsLine struct {
	Counted *memory.Replicated      `json:"counted,omitempty"`
	Record  *memory.ExchangedRecord `json:"record,omitempty"`
}

// packing pools compressors, which use megabytes. The zero value is ready for use.
type packing struct{ packers, unpackers sync.Pool }

func (k *packing) packer(w io.Writer) (*zstd.Encoder, error) {
	if packed, ok := k.packers.Get().(*zstd.Encoder); ok {
		packed.Reset(w)
		return packed, nil
	}
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
}

func (k *packing) unpacker(r io.Reader) (*zstd.Decoder, error) {
	if unpacked, ok := k.unpackers.Get().(*zstd.Decoder); ok {
		return unpacked, unpacked.Reset(r)
	}
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(largestFrame), zstd.WithDecoderMaxMemory(longestPage))
}

// write writes a page, compressed.
func (k *packing) write(w io.Writer, p page) error {
	packed, err := k.packer(w)
	if err != nil {
		return err
	}
	defer k.packers.Put(packed)
	p.Alcove, p.Format = "versions", 1
	lines := json.NewEncoder(packed)
	lines.SetEscapeHTML(false)
	err = lines.Encode(p.header)
	for i := 0; err == nil && i < len(p.versions); i++ {
		err = lines.Encode(p.versions[i])
	}
	for i := 0; err == nil && i < len(p.counts); i++ {
		err = lines.Encode(countsLine{Counted: &p.counts[i]})
	}
	for i := 0; err == nil && i < len(p.records); i++ {
		err = lines.Encode(countsLine{Record: &p.records[i]})
	}
	if err == nil {
		err = lines.Encode(trailer{true, p.lines(), p.next})
	}
	return errors.Join(err, packed.Close())
}

// errCut is the error of a page without a trailer.
var errCut = errors.New("the answer of the other space was truncated")

// read reads a page.
func (k *packing) read(r io.Reader) (p page, err error) {
	unpacked, err := k.unpacker(io.LimitReader(r, longestBody))
	if err != nil {
		return p, err
	}
	defer func() {
		unpacked.Reset(nil) //nolint:errcheck // lets go of r
		k.unpackers.Put(unpacked)
	}()
	lines := bufio.NewScanner(io.LimitReader(unpacked, longestPage))
	lines.Buffer(nil, longestLine)
	if err := line(lines, &p.header); err != nil {
		return p, err
	}
	if p.Alcove != "versions" || p.Format != 1 {
		return p, fmt.Errorf("the other space sent no page of versions of format 1, but %q of format %d", clip(p.Alcove), p.Format)
	}
	return p, p.read(lines)
}

// read reads the versions of a page and its end.
func (p *page) read(lines *bufio.Scanner) error {
	for {
		var one struct {
			memory.Exchanged
			countsLine
			trailer
		}
		if err := line(lines, &one); err != nil {
			return err
		}
		if one.End {
			if n := p.lines(); one.trailer.Versions != n || len(one.Next) > longestToken {
				return fmt.Errorf("the other space sent %d versions, and says that it sent %d", n, one.trailer.Versions)
			}
			p.next = one.Next
			return nil
		}
		if p.lines() == mostVersions {
			return fmt.Errorf("the other space sent more than %d versions in one page", mostVersions)
		}
		switch {
		case one.Counted != nil:
			p.counts = append(p.counts, *one.Counted)
		case one.Record != nil:
			p.records = append(p.records, *one.Record)
		default:
			p.versions = append(p.versions, one.Exchanged)
		}
	}
}

func line(lines *bufio.Scanner, into any) error {
	if !lines.Scan() {
		if err := lines.Err(); err != nil {
			return fmt.Errorf("read what the other space sent: %w", err)
		}
		return errCut
	}
	if err := json.Unmarshal(lines.Bytes(), into); err != nil {
		return fmt.Errorf("read what the other space sent: %w", err)
	}
	return nil
}

// token encodes a place in a list of versions.
func token(at *memory.ExchangePlace) (string, error) {
	if at == nil {
		return "", nil
	}
	text, err := json.Marshal(at)
	return base64.RawURLEncoding.EncodeToString(text), err
}

// placeOf decodes a token.
func placeOf(token string) (at memory.ExchangePlace, err error) {
	if token == "" {
		return at, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil && len(token) <= longestToken {
		err = json.Unmarshal(text, &at)
	}
	if err != nil || len(token) > longestToken {
		return at, errors.New("the cursor is not from a server")
	}
	return at, nil
}

func clip(text string) string { return text[:min(len(text), 60)] }
