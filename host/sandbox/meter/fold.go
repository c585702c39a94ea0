package meter

// fold makes a function pay at fewer of its regions: what both arms of an if cost is paid before it, and so are regions
// that cost little beside the one before. It gives the charges that are left.
func fold(regions []region) []charge {
	for i := len(regions) - 1; i > 0; i-- {
		r := &regions[i]
		if r.second {
			continue // it is looked at with the first arm
		}
		before := &regions[r.before]
		if r.other != none {
			other := &regions[r.other]
			before.share(r, other)
			before.fold(other)
		}
		before.fold(r)
	}
	charges := make([]charge, 0, paying(regions))
	for _, r := range regions {
		if r.price > 0 {
			charges = append(charges, charge{price: r.price, at: int32(r.at), checks: r.checks, outlined: r.outlined})
		}
	}
	return charges
}

func paying(regions []region) int {
	n := 0
	for _, r := range regions {
		if r.price > 0 {
			n++
		}
	}
	return n
}

// share pays what two arms both cost, one of which runs.
func (r *region) share(a, b *region) {
	if a.checks || b.checks {
		return
	}
	both := min(a.price, b.price)
	r.price, a.price, b.price = r.price+both, a.price-both, b.price-both
}

// fold pays for a region that may not run, as long as all of those together cost little beside what runs.
func (r *region) fold(other *region) {
	if other.checks || (r.folded+other.price)*foldedPart > r.price-r.folded {
		return
	}
	r.price, r.folded, other.price = r.price+other.price, r.folded+other.price, 0
}
