package segment

import "encoding/binary"

// check validates every term and posting, so that later reads need no bounds checks.
func (s *Segment) check() error {
	runs := (s.count + restartEach - 1) / restartEach
	if len(s.restarts) != runs*restartSize {
		return corrupt("it has %d terms and where %d begin", s.count, len(s.restarts)/restartSize*restartEach)
	}
	at, e, last := 0, entry{}, ""
	for i := range s.count {
		if i%restartEach == 0 {
			begin, fresh := s.restart(i / restartEach)
			if begin != at || fresh.postingsEnd != e.postingsEnd || fresh.placedEnd != e.placedEnd {
				return corrupt("term %d is not where it should begin", i)
			}
			e.term = e.term[:0]
		}
		var err error
		if at, err = s.next(at, &e); err != nil {
			return err
		}
		if string(e.term) <= last && i > 0 {
			return corrupt("term %d is out of order", i)
		}
		last = string(e.term)
		if err := e.check(s.docs); err != nil {
			return err
		}
	}
	if at != len(s.terms) || e.postingsEnd != len(s.postings)-padding || e.placedEnd != len(s.positions) {
		return corrupt("there is more in it than its terms say")
	}
	return nil
}

// check validates a term's postings.
func (p Postings) check(docs int) error {
	size := len(p.postings) - padding
	if p.Count < 1 || p.Count > docs || p.full()*skipSize > size {
		return corrupt("a term of %d bytes has %d postings of %d documents", size, p.Count, docs)
	}
	previous, total := int64(-1), 0
	at, placed := p.begins(0)
	for block := range p.full() {
		last, end, placedEnd := p.skip(block)
		if at > size-2 {
			return corrupt("block %d is not there", block)
		}
		gapWidth, moreWidth := int(p.postings[at]), int(p.postings[at+1])
		want := at + 2 + packedSize(gapWidth) + packedSize(moreWidth)
		if gapWidth > 32 || moreWidth > 31 || want > size || want != p.full()*skipSize+end || placedEnd < placed || placedEnd > len(p.positions) {
			return corrupt("block %d does not end where it should", block)
		}
		n, err := p.checkBlock(at, gapWidth, moreWidth, &previous, docs)
		if err != nil {
			return err
		}
		if previous != int64(last) {
			return corrupt("block %d ends with another document", block)
		}
		if err := checkPositions(p.positions[placed:placedEnd], n); err != nil {
			return err
		}
		at, placed = want, placedEnd
	}
	return p.checkRest(at, placed, total, previous, docs)
}

func (p Postings) checkBlock(at, gapWidth, moreWidth int, previous *int64, docs int) (occurrences int, err error) {
	var gaps, more [blockSize]uint32
	unpack(&gaps, p.postings[at+2:], gapWidth)
	unpack(&more, p.postings[at+2+packedSize(gapWidth):], moreWidth)
	for i := range gaps {
		*previous += int64(gaps[i]) + 1
		occurrences += int(more[i]) + 1
		if *previous >= int64(docs) || occurrences > len(p.positions) {
			return 0, corrupt("a posting is of document %d of %d", *previous, docs)
		}
	}
	return occurrences, nil
}

// checkRest validates the postings after the last full block.
func (p Postings) checkRest(at, placed, occurrences int, previous int64, docs int) error {
	data := p.postings[at : len(p.postings)-padding]
	for range p.Count - p.full()*blockSize {
		gap, size := binary.Uvarint(data)
		if size <= 0 || gap>>1 >= uint64(docs) {
			return corrupt("a posting cannot be read")
		}
		data = data[size:]
		previous += int64(gap>>1) + 1
		frequency := uint64(1)
		if gap&1 == 0 {
			more, size := binary.Uvarint(data)
			if size <= 0 || more > 1<<30 {
				return corrupt("a posting's frequency cannot be read")
			}
			data, frequency = data[size:], more+2
		}
		occurrences += int(frequency)
		if previous >= int64(docs) || occurrences > len(p.positions) {
			return corrupt("a posting is of document %d of %d", previous, docs)
		}
	}
	if len(data) != 0 {
		return corrupt("%d bytes follow the last posting", len(data))
	}
	return checkPositions(p.positions[placed:], occurrences)
}

// checkPositions validates that data has want positions.
func checkPositions(data []byte, want int) error {
	for range want {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > 1<<32 {
			return corrupt("a position cannot be read")
		}
		data = data[size:]
	}
	if len(data) != 0 {
		return corrupt("there are more positions than postings say")
	}
	return nil
}
