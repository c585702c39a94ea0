package moment

import (
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/moment"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func TestMomentsAreThoseOfTheHost(t *testing.T) {
	now := time.Date(2026, 5, 31, 12, 34, 56, 789000, time.UTC)
	for _, text := range []string{
		"2026-06-01T12:00:00Z", "2026-06-01T12:00:00.25+02:00", "2026-06-01T12:00", "2026-06-01 12:00:30", "2026-06-01", "1760000000", "1760000000000", "1760000000000000",
		"yesterday", "2 days ago", "an hour ago", "1h30m ago", "3 weeks and 2 days ago", "1 month ago", "13 months ago", "2 years, 3 days ago", "90 secs ago", "5 ms ago",
	} {
		want, ok := moment.Parse(text, now)
		if !ok {
			t.Fatalf("the host does not know %q", text)
		}
		if got, ok := Parse(text, alcove.Time(now.UnixMicro()), End); !ok || int64(got) != want.UnixMicro() {
			t.Errorf("%q is %v %v; the host reads %v", text, got, ok, want)
		}
	}
	for text, want := range map[string]string{"in 2 days": "2026-06-02T12:34:56.000789Z", "now": "2026-05-31T12:34:56.000789Z", "in 1 month": "2026-07-01T12:34:56.000789Z"} {
		if got, ok := Parse(text, alcove.Time(now.UnixMicro()), Begin); !ok || got.String() != want {
			t.Errorf("%q is %v %v; want %s", text, got, ok, want)
		}
	}
	if got, ok := Parse("2026-06-01", 0, Begin); !ok || got.String() != "2026-06-01T00:00:00Z" {
		t.Errorf("a day begins at %v", got)
	}
	for _, text := range []string{"v12", "tomorrow", "2026-13-01", "ago", "two days ago", "3 fortnights ago", "in", "-5", "99999999999 days ago", "999999999 days ago", "9000 years ago, 9000 years ago"} {
		if got, ok := Parse(text, alcove.Time(now.UnixMicro()), End); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestADateBeginsARangeWithItsFirstInstantAndEndsItWithItsLast(t *testing.T) {
	c := &alcove.Call{Context: alcove.Context{Now: "2026-06-10T12:00:00Z"}}
	for _, each := range []struct{ start, end, since, until string }{
		{`"2026-06-01"`, `"2026-06-01"`, "2026-06-01T00:00:00Z", "2026-06-01T23:59:59.999999Z"},
		{`1000`, `1780000000000`, "1970-01-01T00:00:01Z", "2026-05-28T20:26:40Z"},
		{`"2 days ago"`, `null`, "2026-06-08T12:00:00Z", ""},
		{``, `""`, "", ""},
	} {
		since, until, err := Range{alcove.Raw(each.start), alcove.Raw(each.end)}.Moments(c)
		if err != nil || since != each.since || until != each.until {
			t.Errorf("%s to %s is %q to %q, %v", each.start, each.end, since, until, err)
		}
	}
	for _, bad := range []string{`true`, `"soon"`, `-1`, `1e300`, `{}`} {
		if _, _, err := (Range{Start: alcove.Raw(bad)}).Moments(c); alcove.CodeOf(err) != alcove.InvalidArgument {
			t.Errorf("%s is a start: %v", bad, err)
		}
	}
}
