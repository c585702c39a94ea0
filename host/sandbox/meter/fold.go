package meter

// fold reduces the number of regions that pay: the common cost of both arms of an if moves before it, and so do regions
// that are cheap relative to the preceding one. It returns the remaining charges.
func fold(regions []region) []charge {
	for i := len(regions) - 1; i > 0; i-- {
		r := &regions[i]
		if r.second {
			continue // handled with the first arm
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

// share pays the common cost of two arms, one of which runs.
func (r *region) share(a, b *region) {
	if a.checks || b.checks {
		return
	}
	both := min(a.price, b.price)
	r.price, a.price, b.price = r.price+both, a.price-both, b.price-both
}

// fold pays for a region that may not run, while the total of such regions stays small relative to what runs.
func (r *region) fold(other *region) {
	if other.checks || (r.folded+other.price)*foldedPart > r.price-r.folded {
		return
	}
	r.price, r.folded, other.price = r.price+other.price, r.folded+other.price, 0
}
