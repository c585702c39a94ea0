package segment

import "encoding/binary"

// Cursor iterates over postings, a block at a time.
type Cursor struct {
	p        Postings
	block    int   // the next block
	previous int64 // the last document before the next block
	docs     [blockSize]uint32
	tfs      [blockSize]uint32
	placed   int // where the current block's positions begin
	size     int // of the current block, in postings
}

// Cursor returns a cursor before the first posting.
func (p Postings) Cursor() *Cursor {
	c := &Cursor{}
	c.Reset(p)
	return c
}

// Reset moves the cursor before the first of these postings.
func (c *Cursor) Reset(p Postings) { c.p, c.block, c.previous, c.placed, c.size = p, 0, -1, 0, 0 }

func (p Postings) full() int { return p.Count / blockSize }

// skip returns a full block's entry in the skip table: its last document, and the end offsets of the block and its
// positions.
func (p Postings) skip(block int) (last uint32, end, placed int) {
	at := p.postings[block*skipSize:]
	return binary.LittleEndian.Uint32(at), int(binary.LittleEndian.Uint32(at[4:])), int(binary.LittleEndian.Uint32(at[8:]))
}

// Skip skips blocks whose documents are all less than doc.
func (c *Cursor) Skip(doc uint32) {
	for c.block < c.p.full() {
		last, _, _ := c.p.skip(c.block)
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

// begins returns the offsets of a block and its positions.
func (p Postings) begins(block int) (at, placed int) {
	base := p.full() * skipSize
	if block == 0 {
		return base, 0
	}
	_, end, placed := p.skip(block - 1)
	return base + end, placed
}

func (c *Cursor) readBlock() {
	at, placed := c.p.begins(c.block)
	c.placed = placed
	data := c.p.postings[at:]
	gapWidth, moreWidth := int(data[0]), int(data[1])
	unpack(&c.docs, data[2:], gapWidth)
	unpack(&c.tfs, data[2+packedSize(gapWidth):], moreWidth)
	doc := uint32(c.previous)
	for i := range c.docs {
		doc += c.docs[i] + 1
		c.docs[i] = doc
		c.tfs[i]++
	}
	c.previous = int64(doc)
}

func (c *Cursor) readRest() {
	at, placed := c.p.begins(c.block)
	c.placed = placed
	data := c.p.postings[at:]
	for i := range c.p.Count - c.block*blockSize {
		gap, size := binary.Uvarint(data)
		data = data[max(0, size):]
		c.previous += int64(gap>>1) + 1
		c.docs[i], c.tfs[i] = uint32(c.previous), 1
		if gap&1 == 0 {
			more, size := binary.Uvarint(data)
			data = data[max(0, size):]
			c.tfs[i] = uint32(more) + 2
		}
	}
}

// Frequency returns the frequency of a posting, given its number from 0 on. It decodes no other posting, unless there is no full block of them.
func (p Postings) Frequency(number int) uint32 {
	block, i := number/blockSize, number%blockSize
	at, _ := p.begins(block)
	data := p.postings[at:]
	if block < p.full() {
		return packed(data[2+packedSize(int(data[0])):], int(data[1]), i) + 1
	}
	for ; ; i-- {
		gap, size := binary.Uvarint(data)
		data = data[max(0, size):]
		frequency := uint32(1)
		if gap&1 == 0 {
			more, size := binary.Uvarint(data)
			data, frequency = data[max(0, size):], uint32(more)+2
		}
		if i == 0 {
			return frequency
		}
	}
}

// Positions calls do with the encoded positions of each posting of the current block; EachPosition decodes them.
func (c *Cursor) Positions(do func(i int, positions []byte)) {
	data := c.p.positions[c.placed:]
	for i, frequency := range c.tfs[:c.size] {
		end := 0
		for range frequency {
			_, size := binary.Uvarint(data[end:])
			end += max(0, size)
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
