package search

// analysedEach is of how many documents Missing analyses one again.
const analysedEach = 32

// Missing counts the given versions that the index lacks or has with other content. The index keeps a digest of what it analysed of each
// document, which is compared with that of the version. One document in analysedEach, and one that is asked for by itself, is analysed again,
// and some of its terms are looked up.
func (x *Index) Missing(docs ...Doc) (missing int) {
	analysed := make([]*preparedDoc, len(docs))
	for i := 0; i < len(docs); i += analysedEach {
		p, _ := x.prepare(&docs[i], nil)
		analysed[i] = &p
	}
	digests := make([]uint64, len(docs))
	for i := range docs {
		digests[i] = digestOf(&docs[i])
	}
	err := x.guard(func() error {
		x.mu.RLock()
		defer x.mu.RUnlock()
		for i := range docs {
			if !x.contains(&docs[i], digests[i], analysed[i]) {
				missing++
			}
		}
		return nil
	})
	if err != nil { // they cannot be read, and so cannot be found
		return len(docs)
	}
	return missing
}

// contains reports whether the index has a version of a document with the same content. p is its analysis, or nil.
func (x *Index) contains(d *Doc, digest uint64, p *preparedDoc) bool {
	t := x.table
	number := x.versionOf(d)
	if number == none || t.row(number).gone != d.Deleted {
		return false
	}
	r := t.row(number)
	if d.Deleted {
		return true
	}
	at := t.placeOf(number)
	part := x.parts[at.part]
	if had, ok := part.digest(at.local); !ok || had != digest {
		return false
	}
	return x.sameColumns(r, d) && (p == nil || part.lengths()[at.local] == lengthCode(p.length) && part.hasAll(p.words, at.local))
}

// hasAll reports whether a document has the terms of words as often. It checks a sample of them.
func (p *part) hasAll(words []wordPosition, local uint32) bool {
	const looked = 3
	for i := 0; i < len(words); i += 1 + len(words)/looked {
		c, want := clause{label: words[i].term}, uint32(0)
		for _, w := range words {
			if w.term == c.label {
				want++
			}
		}
		if p.frequency(&c, local) != want {
			return false
		}
	}
	return true
}
