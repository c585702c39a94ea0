package moment

import (
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Range is a span of time. Its ends are milliseconds since 1970, instants, dates, or spans such as 7 days ago.
type Range struct {
	Start alcove.Raw `json:"start"`
	End   alcove.Raw `json:"end"`
}

// Moments are the ends as operations take them; empty where there is none. A date is its first instant as a start, and its last one as an end.
func (r Range) Moments(c *alcove.Call) (since, until string, err error) {
	if since, err = end(c, "start", r.Start, Begin); err != nil {
		return "", "", err
	}
	until, err = end(c, "end", r.End, End)
	return since, until, err
}

func end(c *alcove.Call, name string, v alcove.Raw, edge Edge) (string, error) {
	if v.Null() {
		return "", nil
	}
	if text, ok := v.Text(); ok {
		t, err := Of(c, text, edge)
		if err != nil || t == 0 {
			return "", err
		}
		return t.String(), nil
	}
	if ms, err := strconv.ParseFloat(string(v), 64); err == nil && ms >= 0 && ms*1e3 < float64(last) {
		return alcove.Time(ms * 1000).String(), nil
	}
	return "", alcove.Errorf(alcove.InvalidArgument, "%s of the range is no moment: give milliseconds since 1970, an instant, a date, or a span such as 7 days ago", name)
}
