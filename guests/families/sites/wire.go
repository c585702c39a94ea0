package sites

import (
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// get reads the schema of a site.
func get(c *alcove.Call, cfg Config, slug string) (schema, error) {
	out, err := c.HTTPFetch(alcove.HTTPFetchRequest{Endpoint: endpoint(slug), Headers: map[string]string{"Accept": "application/json"}, TimeoutMS: cfg.TimeoutMS})
	if err != nil {
		return schema{}, err
	}
	if out.Status/100 != 2 {
		var r reply
		if scan.Decode([]byte(out.Body), &r) != nil {
			r.Error = nil
		}
		return schema{}, refused(slug, out.Status, r.Error)
	}
	return readSchema(slug, alcove.Raw(out.Body))
}

// reply is what a site answers to an action.
//
//alcove:json
type reply struct {
	Success bool
	Data    alcove.Raw
	Error   *failure
}

//alcove:json
type failure struct {
	Code    alcove.Raw
	Message alcove.Raw
}

// act has a site do something, once: the host never repeats what may have had its effect. What only reads has none.
func act(c *alcove.Call, cfg Config, slug, action string, data alcove.Raw) (alcove.Raw, error) {
	w := &scan.Writer{}
	w.Open()
	w.Key("action")
	w.Text(action)
	w.Key("data")
	w.Raw(data)
	w.Close()
	body, err := w.Bytes()
	if err != nil {
		return nil, err
	}
	out, err := c.HTTPFetch(alcove.HTTPFetchRequest{Endpoint: endpoint(slug), Method: "POST", Body: string(body), TimeoutMS: cfg.TimeoutMS, Repeatable: reads(action),
		Headers: map[string]string{"Accept": "application/json", "Content-Type": "application/json"}})
	if err != nil {
		return nil, err
	}
	var r reply
	if failed := scan.Decode([]byte(out.Body), &r); failed != nil {
		if out.Status/100 != 2 {
			return nil, refused(slug, out.Status, nil)
		}
		return nil, fault(alcove.Unavailable, "[%s] what the site answered cannot be read: %v", slug, failed)
	}
	if out.Status/100 != 2 || !r.Success {
		return nil, refused(slug, out.Status, r.Error)
	}
	return r.Data, nil
}

// reads reports whether an action only reads, by the first word of its name: list, getUser, posts.find_all. Doing such an action twice does
// what doing it once does.
func reads(action string) bool {
	for i := range len(action) {
		if action[i] == '.' {
			return reads(action[i+1:])
		}
	}
	for _, verb := range []string{"list", "get", "read", "search", "find", "count", "show", "view", "fetch", "query", "lookup", "status"} {
		rest, is := after(action, verb)
		if is && (rest == "" || rest[0] == '_' || rest[0] == '-' || rest[0] >= 'A' && rest[0] <= 'Z') {
			return true
		}
	}
	return false
}

// longestMessage is how many characters of a site's message are passed on.
const longestMessage = 300

// refused is the error of a request that a site did not carry out: by its own code, or else by the status.
func refused(slug string, status int, f *failure) error {
	code, message := "", ""
	if f != nil {
		code, _ = f.Code.Text()
		message, _ = f.Message.Text()
		code, message = plain(code, 64), plain(message, longestMessage)
	}
	text := "[" + slug + "] "
	switch {
	case message != "" && code != "":
		text += code + ": " + message
	case message+code != "":
		text += message + code
	case status/100 == 3:
		text += "the site answered with a redirect (" + strconv.Itoa(status) + "), which is not followed: an operator can correct its URL"
	default:
		text += "the site answered with the status " + strconv.Itoa(status)
	}
	return fault(codeOf(code, status), "%s", text)
}

func codeOf(code string, status int) alcove.Code {
	if _, ok := after(code, "INVALID_"); ok {
		return alcove.InvalidArgument
	}
	switch code {
	case "UNAUTHORIZED", "FORBIDDEN":
		return alcove.Denied
	case "NOT_FOUND":
		return alcove.NotFound
	case "INTERNAL_ERROR":
		return alcove.Internal
	}
	switch status {
	case 401, 403:
		return alcove.Denied
	case 404, 410:
		return alcove.NotFound
	case 400, 422:
		return alcove.InvalidArgument
	case 409:
		return alcove.Conflict
	case 429:
		return alcove.Exhausted
	}
	return alcove.Unavailable
}

// fault is an error that nobody repeats by itself: the site may have acted.
func fault(code alcove.Code, format string, arguments ...any) error {
	return alcove.Errorf(code, format, arguments...).Final()
}
