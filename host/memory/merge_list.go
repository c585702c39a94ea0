package memory

import (
	"context"

	"github.com/alcove-memory/alcove/host/store"
)

// list adds a page of visible clashes and changes to the result. Both lists end at the same key, so that one cursor continues both.
func (p *mergePlan) list(ctx context.Context) error {
	limit := p.space.page(p.merge.Limit)
	from, err := parseDifferencePlace(p.merge.After)
	if err != nil {
		return err
	}
	var last store.Key
	var clashes, applied, missing []store.Key
	for _, key := range p.keys {
		d := p.decisions[key]
		isClash, isChange := d.shown && d.clash, d.shown && len(d.writes) > 0
		if !isClash && !isChange || from != nil && compareKeys(key, *from) <= 0 {
			continue
		}
		if isClash && len(clashes) == limit || isChange && len(applied) == limit {
			p.result.Next = differencePlace(last)
			break
		}
		last = key
		if isClash {
			clashes = append(clashes, key)
		}
		if isChange {
			applied = append(applied, key)
		}
		if d.difference == nil {
			missing = append(missing, key)
		}
	}
	err = p.each(ctx, missing, func(t triple) error {
		difference, err := t.difference()
		p.decisions[t.key].difference = &difference
		return err
	})
	if err != nil {
		return err
	}
	for _, key := range clashes {
		p.result.Clashes = append(p.result.Clashes, *p.decisions[key].difference)
	}
	for _, key := range applied {
		d := p.decisions[key]
		difference := *d.difference
		if difference.Result, err = written(d.writes[0]); err != nil {
			return err
		}
		p.result.Applied = append(p.result.Applied, difference)
	}
	return nil
}

// written returns the memory of a write, without a version; nil: a deletion.
func written(w store.Write) (*Memory, error) {
	if w.Delete {
		return nil, nil
	}
	m, err := decodeMemory(store.Entry{Key: w.Key, Point: store.Point{Version: 1}, Value: w.Value})
	m.Version = 0
	return &m, err
}
