package alcove

// crockford are the digits of a ULID.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// NewID returns a prefix and a ULID: 26 characters that sort by the time of the request. A request that is repeated gets the same ids
// in the same order, so that a repetition writes what the first attempt would have written.
func (c *Call) NewID(prefix string) string {
	c.ids++
	low, high := hashOf(14695981039346656037, c), hashOf(1099511628211, c)
	out := make([]byte, 0, len(prefix)+26)
	out = append(out, prefix...)
	for at, millis := 45, uint64(c.Time())/1000; at >= 0; at -= 5 {
		out = append(out, crockford[millis>>at&31])
	}
	for at := 35; at >= 0; at -= 5 {
		out = append(out, crockford[high>>at&31])
	}
	for at := 35; at >= 0; at -= 5 {
		out = append(out, crockford[low>>at&31])
	}
	return string(out)
}

// hashOf is FNV-1a of what tells ids apart, with its bits mixed.
func hashOf(h uint64, c *Call) uint64 {
	for _, text := range [...]string{c.RequestID, c.Caller, c.Namespace, c.Branch, c.Now} {
		for i := range len(text) {
			h = (h ^ uint64(text[i])) * 1099511628211
		}
		h = (h ^ 255) * 1099511628211
	}
	h ^= c.ids * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
