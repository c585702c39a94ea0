package alcove

import "iter"

// Memories iterates over the memories that MemoryList lists, page by page. An error ends it.
func (c *Call) Memories(r MemoryListRequest) iter.Seq2[*Memory, error] {
	return pages(r, func(r *MemoryListRequest) ([]Memory, bool, error) {
		page, err := smaller(&r.Limit, func() (MemoryListResponse, error) { return c.MemoryList(*r) })
		r.After = page.Next
		return page.Memories, page.Next != "", err
	})
}

// Versions iterates over the versions of a memory, the newest first, page by page. An error ends it.
func (c *Call) Versions(r MemoryHistoryRequest) iter.Seq2[*Memory, error] {
	return pages(r, func(r *MemoryHistoryRequest) ([]Memory, bool, error) {
		page, err := smaller(&r.Limit, func() (MemoryHistoryResponse, error) { return c.MemoryHistory(*r) })
		r.Before = page.Next
		return page.Versions, page.Next != 0, err
	})
}

// Records iterates over the records that RecordList lists, page by page. An error ends it.
func (c *Call) Records(r RecordListRequest) iter.Seq2[*Record, error] {
	return pages(r, func(r *RecordListRequest) ([]Record, bool, error) {
		page, err := smaller(&r.Limit, func() (RecordListResponse, error) { return c.RecordList(*r) })
		r.After = page.Next
		return page.Records, page.Next != "", err
	})
}

// Scan iterates over what RecordScan answers, page by page, for any number of prefixes. An error ends it.
func (c *Call) Scan(r RecordScanRequest) iter.Seq2[*RecordScanResponse, error] {
	return func(yield func(*RecordScanResponse, error) bool) {
		for all := r.Prefixes; len(all) > 0; {
			n := min(len(all), mostItems)
			r.Prefixes, r.After, all = all[:n], "", all[n:]
			for more := true; more; more = r.After != "" {
				page, err := smaller(&r.Limit, func() (RecordScanResponse, error) { return c.RecordScan(r) })
				if !yield(&page, err) || err != nil {
					return
				}
				r.After = page.Next
			}
		}
	}
}

// smaller asks for a page. One of more bytes than a host call may have is asked for again with half as many entries.
func smaller[T any](limit *int, ask func() (T, error)) (page T, err error) {
	for {
		page, err = ask()
		e, ok := find[*Error](err)
		if !ok || e.Code != Exhausted || e.Details["limit"] != "call_bytes" || *limit == 1 {
			return page, err
		}
		if *limit == 0 {
			*limit = 100 // no more than any default
		}
		*limit /= 2
	}
}

// pages iterates over the elements of pages. read returns the page that r asks for, turns r into the request of the next page, and
// reports whether there is one.
func pages[R, T any](first R, read func(*R) (page []T, more bool, err error)) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		r := first
		for more := true; more; {
			var page []T
			var err error
			if page, more, err = read(&r); err != nil {
				yield(nil, err)
				return
			}
			for i := range page {
				if !yield(&page[i], nil) {
					return
				}
			}
		}
	}
}
