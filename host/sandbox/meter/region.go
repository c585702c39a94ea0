package meter

// region is code that runs together: if its first instruction runs, all of it does, barring traps. It pays once, where
// control enters it.
type region struct {
	at       int   // byte of the body where control enters it
	price    int64 // of its code and the regions folded into it
	folded   int64 // part of price for regions that may not run
	before   int32 // an earlier region that runs whenever this one does; none: this is the first of the function
	other    int32 // of the first arm of an if: the second arm; none: no such pair
	second   bool  // it is the second arm of an if
	checks   bool  // it checks the fuel
	outlined bool  // of a loop: the host is called from outside the loop's code
}

// charge is a region that pays.
type charge struct {
	price    int64
	at       int32
	checks   bool
	outlined bool
}

// none is the region of unreachable code, and the loop of code outside loops.
const none int32 = -1

// span bounds the paths to an instruction since the last fuel check: the least price of one, and the most time of one, in
// units.
type span struct{ least, most int64 }

func (s span) join(o span) span { return span{min(s.least, o.least), max(s.most, o.most)} }

// straight is the start of the straight-line code that leads to an instruction.
type straight struct {
	at     int
	most   int64 // of the span there
	price  int64 // of the region there
	region int32 // that begins there; none: an earlier one continues
}

// begin starts a region.
func (r *flow) begin(at int) {
	r.regions = append(r.regions, region{at: at, before: r.now, other: none})
	r.now = int32(len(r.regions) - 1)
	r.since = straight{at: at, most: r.span.most, region: r.now}
}

// check makes the current region check the fuel.
func (r *flow) check() {
	r.regions[r.now].checks = true
	r.span = span{}
	r.since.most = 0
}

// resume makes an earlier region pay for the code that follows.
func (r *flow) resume(at int, region int32, s span) {
	r.now, r.span = region, s
	r.since = straight{at: at, most: s.most, price: r.regions[region].price, region: none}
}

// pay adds an instruction's price to the region and its time to the span. It cuts a span that gets too long.
func (r *flow) pay(at int, price, time int64) {
	if r.now == none {
		return
	}
	if r.span.most+time > unchecked {
		r.cut(at)
	}
	r.regions[r.now].price += price
	r.span.least += price
	r.span.most += time
}

// cut inserts a fuel check at the start of the straight-line code that leads to an instruction, or right before it.
func (r *flow) cut(at int) {
	r.busy = true
	time := r.span.most - r.since.most
	switch now := &r.regions[r.now]; {
	case r.since.region == none:
		price := now.price - r.since.price
		now.price = r.since.price
		r.begin(r.since.at)
		r.regions[r.now].price = price
	case now.checks:
		r.begin(at)
		time = 0
	}
	r.check()
	r.span.most = time
}
