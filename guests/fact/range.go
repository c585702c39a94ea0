package fact

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// DateRange is a span of time. Its ends are milliseconds since 1970, instants, dates, or spans such as 7 days ago.
type DateRange struct {
	Start alcove.Raw `json:"start"`
	End   alcove.Raw `json:"end"`
}

// Moments are the ends as operations take them; empty where there is none.
func (r DateRange) Moments() (since, until string, err error) {
	if since, err = moment("start", r.Start); err != nil {
		return "", "", err
	}
	until, err = moment("end", r.End)
	return since, until, err
}

func moment(name string, v alcove.Raw) (string, error) {
	if v.Null() {
		return "", nil
	}
	if text, ok := v.Text(); ok {
		return text, nil
	}
	const latest = 253_402_300_800_000 // the year 10000
	if ms, ok := Number(v); ok && ms >= 0 && ms < latest {
		return alcove.Time(ms * 1000).String(), nil
	}
	return "", alcove.Errorf(alcove.InvalidArgument, "%s of the range is no moment: give milliseconds since 1970, an instant, a date, or a span such as 7 days ago", name)
}
