package search

// Replace rewrites versions of documents after a purge, the one operation that changes written versions. The old text is
// gone from memory after the next Maintain, and from the files after the next Save. Versions that the index lacks are added
// unless they are deleted.
func (x *Index) Replace(docs ...Doc) {
	_ = x.guardWrite(func() error { // a broken index takes nothing more
		x.replace(docs)
		return nil
	})
}

func (x *Index) replace(docs []Doc) {
	analysed := make([]preparedDoc, len(docs))
	for i := range docs {
		analysed[i], _ = x.prepare(&docs[i], nil)
	}
	x.adding.Lock()
	defer x.adding.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	x.table.purged = true
	for i := range docs {
		x.replaceOne(&docs[i], &analysed[i])
	}
	x.signalDue()
}

func (x *Index) replaceOne(d *Doc, p *preparedDoc) {
	t := x.table
	space := t.spaceNumber(d.Namespace, d.Collection)
	number := x.versionOf(d)
	if number == none {
		if !d.Deleted {
			x.insert(d, p, reservation{})
		}
		return
	}
	if t.row(number).gone {
		return
	}
	views := x.viewsWith(number)
	for _, v := range views {
		v.replace(x, number, none)
	}
	live := x.table.live.has(number)
	x.setLive(number, false)
	x.rewrite(number, d, p, space)
	x.setLive(number, live && !t.row(number).gone)
	if t.row(number).gone {
		return
	}
	for _, v := range views {
		v.replace(x, none, number)
	}
}

// rewrite moves a row from its part to its branch's tail with new content.
func (x *Index) rewrite(number uint32, d *Doc, p *preparedDoc, space uint32) {
	t := x.table
	at := t.placeOf(number)
	was := x.parts[at.part]
	was.rows[at.local], was.purged = none, true
	was.dead++
	t.strip(number)
	x.semanticRemove(number)
	r := t.rows.Edit(number)
	if r.gone = d.Deleted; !r.gone {
		r.facet, r.length = t.facetNumber(facet{space, d.State, d.Type}), lengthCode(p.length)
		r.importance, r.agent = importanceOf(d), t.agentNumber(d.Agent)
		r.extra = x.extraOf(d)
		t.enrich(number, x.turnOf(d.Turn, p, space))
	}
	x.addToTail(number, p, reservation{})
	if !r.gone {
		x.semanticAdd(number, p.vector)
	}
}

// viewsWith returns the cached views that see a row. The caller holds cacheMu.
func (x *Index) viewsWith(number uint32) (views []*visible) {
	for _, v := range x.cache {
		if v.rows.has(number) {
			views = append(views, v)
		}
	}
	return views
}
