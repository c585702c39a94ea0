package meter

// region is code that runs together: when its first instruction runs, all of it does, but for traps. It pays once,
// where control enters it.
type region struct {
	at       int   // byte of the body where control enters it
	price    int64 // of what it runs, and of what is folded into it
	folded   int64 // of regions that may not run
	before   int32 // the region that runs whenever this one does, and pays earlier; none: the first of the function
	other    int32 // of the first arm of an if: the second; none: no such pair
	second   bool  // arm of an if
	checks   bool  // whether there is fuel left
	outlined bool  // of a loop: the host is called from outside of it
}

// charge is a region that pays.
type charge struct {
	price    int64
	at       int32
	checks   bool
	outlined bool
}

// none is the region of code that never runs, and the loop of code outside of loops.
const none int32 = -1

// span is what the ways to an instruction cost since the last look at the fuel: the least that one costs, and the most
// time that one takes.
type span struct{ least, most int64 }

func (s span) join(o span) span { return span{min(s.least, o.least), max(s.most, o.most)} }

// straight is where the code that led to an instruction without branches began.
type straight struct {
	at     int
	most   int64 // of the span there
	price  int64 // of the region there
	region int32 // that begins there; none: one goes on
}

// begin starts a region.
func (r *flow) begin(at int) {
	r.regions = append(r.regions, region{at: at, before: r.now, other: none})
	r.now = int32(len(r.regions) - 1)
	r.since = straight{at: at, most: r.span.most, region: r.now}
}

// check makes the region that begins look whether there is fuel left.
func (r *flow) check() {
	r.regions[r.now].checks = true
	r.span = span{}
	r.since.most = 0
}

// goOn makes an earlier region pay for what follows.
func (r *flow) goOn(at int, region int32, s span) {
	r.now, r.span = region, s
	r.since = straight{at: at, most: s.most, price: r.regions[region].price, region: none}
}

// pay adds an instruction to the region, and its time to the span. A span that gets too long is cut.
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

// cut puts a look at the fuel where the straight code began that leads to an instruction, or right before it.
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
