package legacy

import (
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// notification is what is needed of a notification.
//
//alcove:json
//alcove:camel
type notification struct{ NotificationID string }

func readNotification(raw alcove.Raw) (n notification, err error) {
	return n, readable(scan.Decode(raw, &n), "a notification")
}

// textOf is the content of a fact: a text, or JSON as text.
func textOf(raw alcove.Raw) (string, error) {
	var f content
	if err := readable(scan.Decode(raw, &f), "a fact"); err != nil {
		return "", err
	}
	if text, is := f.Content.Text(); is {
		return text, nil
	}
	return string(f.Content), nil
}

func readable(err error, what string) error {
	if err != nil {
		return alcove.Errorf(alcove.Internal, "read %s: %v", what, err)
	}
	return nil
}

// summaryOf tells what a context has.
func summaryOf(in GetContext, out *Context, budget int) string {
	return "Context(" + in.Profile + ") for \"" + in.Topic + "\": " + count(len(out.Facts), "fact") + " (" + strconv.Itoa(out.UsedTokens) + "/" + strconv.Itoa(budget) + " tokens), " +
		count(len(out.Entities), "entity") + ", " + count(len(out.Themes), "theme") + ", " + count(len(out.Handoffs), "handoff") + ", " + count(len(out.Notifications), "notification")
}

// count is a number with its noun.
func count(n int, noun string) string {
	switch {
	case n == 1:
	case noun[len(noun)-1] == 'y':
		noun = noun[:len(noun)-1] + "ies"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
