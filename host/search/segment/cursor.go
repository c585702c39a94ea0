package segment

import "encoding/binary"

// Cursor iterates over postings, a block at a time.
type Cursor struct {
	p        Postings
	skips    []byte // the skip table
	block    int    // the next block
	previous int64  // the last document before the next block
	docs     [blockSize]uint32
	tfs      [blockSize]uint32
	size     int // of the current block, in postings
}

// Cursor returns a cursor before the first posting.
func (p Postings) Cursor() *Cursor {
	c := &Cursor{}
	c.Reset(p)
	return c
}

// Reset moves the cursor before the first of these postings.
func (c *Cursor) Reset(p Postings) {
	c.p, c.skips, c.block, c.previous, c.size = p, nil, 0, -1, 0
	if p.full() > 0 {
		c.skips = p.segment.read(p.postings, 0, p.full()*skipSize)
	}
}

// Rewind moves the cursor before the first posting.
func (c *Cursor) Rewind() { c.Reset(c.p) }

func (p Postings) full() int { return p.Count / blockSize }

// skip returns a full block's entry in the skip table: its last document, and the end offsets of the block and its
// positions.
func (c *Cursor) skip(block int) (last uint32, end, placed int) {
	at := c.skips[block*skipSize:]
	return binary.LittleEndian.Uint32(at), int(binary.LittleEndian.Uint32(at[4:])), int(binary.LittleEndian.Uint32(at[8:]))
}

// Skip skips blocks whose documents are all less than doc.
func (c *Cursor) Skip(doc uint32) {
	for c.block < c.p.full() {
		last, _, _ := c.skip(c.block)
		if last >= doc {
			return
		}
		c.previous = int64(last)
		c.block++
	}
}

// Next returns the documents of the next block in ascending order, with their frequencies. Both slices are valid until
// the next call, and empty after the last block.
func (c *Cursor) Next() (docs, frequencies []uint32) {
	full := c.p.full()
	c.size = 0
	if c.block < full {
		c.readBlock()
		c.size = blockSize
	} else if c.block == full {
		c.readRest()
		c.size = c.p.Count - full*blockSize
	}
	c.block++
	return c.docs[:c.size], c.tfs[:c.size]
}

// begins returns the offsets of a block and its positions; those of the one behind the last are where the rest begins.
func (c *Cursor) begins(block int) (at, placed int) {
	base := c.p.full() * skipSize
	if block == 0 {
		return base, 0
	}
	_, end, placed := c.skip(block - 1)
	return base + end, placed
}

func (c *Cursor) readBlock() {
	s := c.p.segment
	from, _ := c.begins(c.block)
	to, _ := c.begins(c.block + 1)
	data := s.read(c.p.postings, from, to)
	gapWidth, moreWidth := s.widths(data)
	data = data[:len(data)+padding] // within the section, which ends in padding
	unpack(&c.docs, data[2:], gapWidth)
	unpack(&c.tfs, data[2+packedSize(gapWidth):], moreWidth)
	doc := c.previous // in 64 bits, which cannot overflow
	for i := range c.docs {
		doc += int64(c.docs[i]) + 1
		c.docs[i] = uint32(doc)
		c.tfs[i]++
	}
	if last, _, _ := c.skip(c.block); doc != int64(last) || doc >= int64(s.docs) {
		s.damaged("a block of postings ends with document %d of %d", doc, s.docs)
	}
	c.previous = doc
}

func (c *Cursor) readRest() {
	s := c.p.segment
	from, _ := c.begins(c.block)
	data := s.read(c.p.postings, from, c.p.postings.size())
	for i := range c.p.Count - c.block*blockSize {
		gap, frequency, rest := s.posting(data)
		data = rest
		c.previous += gap + 1
		c.docs[i], c.tfs[i] = uint32(c.previous), frequency
	}
	if c.previous >= int64(s.docs) {
		s.damaged("there is a posting of document %d of %d", c.previous, s.docs)
	}
}

// Frequency returns the frequency of a posting, given its number from 0 on. It decodes no other posting, unless there is no full block of them.
func (p Postings) Frequency(number int) uint32 {
	s, block, i := p.segment, number/blockSize, number%blockSize
	end := func(block int) int {
		return p.full()*skipSize + int(binary.LittleEndian.Uint32(s.read(p.postings, block*skipSize+4, block*skipSize+8)))
	}
	from, to := p.full()*skipSize, p.postings.size()
	if block > 0 {
		from = end(block - 1)
	}
	if block < p.full() {
		to = end(block)
	}
	data := s.read(p.postings, from, to)
	if block < p.full() {
		gapWidth, moreWidth := s.widths(data)
		return packed(data[2+packedSize(gapWidth):len(data)+padding], moreWidth, i) + 1
	}
	frequency := uint32(0)
	for range i + 1 {
		_, frequency, data = s.posting(data)
	}
	return frequency
}

// widths returns the widths of the packed numbers of a block, which has as many bytes as they need.
func (s *Segment) widths(data []byte) (gaps, more int) {
	if len(data) < 2 || data[0] > 32 || data[1] > 32 || len(data) != 2+packedSize(int(data[0]))+packedSize(int(data[1])) {
		s.damaged("a block of postings has the wrong size")
	}
	return int(data[0]), int(data[1])
}

// posting decodes a posting that is not packed.
func (s *Segment) posting(data []byte) (gap int64, frequency uint32, rest []byte) {
	n, rest := s.number(data)
	if n&1 == 1 {
		return int64(n >> 1), 1, rest
	}
	more, rest := s.number(rest)
	return int64(n >> 1), uint32(more) + 2, rest
}

// Positions calls do with the encoded positions of each posting of the current block; EachPosition decodes them.
func (c *Cursor) Positions(do func(i int, positions []byte)) {
	if c.size == 0 {
		return
	}
	s := c.p.segment
	_, from := c.begins(c.block - 1)
	to := c.p.positions.size()
	if c.block <= c.p.full() {
		_, to = c.begins(c.block)
	}
	data := s.read(c.p.positions, from, to)
	for i, frequency := range c.tfs[:c.size] {
		end := 0
		for range frequency {
			_, size := binary.Uvarint(data[end:])
			if size <= 0 {
				s.damaged("a position cannot be read")
			}
			end += size
		}
		do(i, data[:end])
		data = data[end:]
	}
}

// EachPosition decodes positions that AppendPositions encoded.
func EachPosition(positions []byte, do func(uint32)) {
	last := uint32(0)
	for len(positions) > 0 {
		gap, size := binary.Uvarint(positions)
		if size <= 0 {
			return
		}
		last += uint32(gap)
		do(last)
		positions = positions[size:]
	}
}
