package tool

import (
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/tool/request"
)

// idMember is the one name of what a call or an answer is about. Families keep the names that the systems had from which their tools come,
// such as factId and memory_id, beside it.
const idMember = "id"

// soleID returns the parameter for which id is another name: the only required one that ends in id, unless it says where or for whom a
// call is; "" if there is none.
func soleID(required []string) string {
	sole := ""
	for _, name := range required {
		folded := request.Fold(name)
		if len(folded) <= len(idMember) || folded[len(folded)-len(idMember):] != idMember || slices.Contains([]string{request.Fold(scopeParameter), "agentid"}, folded) {
			continue
		}
		if sole != "" {
			return ""
		}
		sole = name
	}
	return sole
}

// subjects are the members of answers that name what the answer is about.
func subjects() []string {
	return []string{"factId", "memory_id", "entityId", "themeId", "conversationId", "checkpointId", "handoffId", "subscriptionId", "message_id", "notificationId", "recallId", "signalId", "item_id"}
}

// identified returns an object with the member id, equal to the one of its members that names what it is about. An object that has an id, or
// several such members, stays as it is.
func identified(object json.RawMessage) json.RawMessage {
	var subject json.RawMessage
	found := 0
	jsonrpc.Members(object, 0, func(name string, value jsonrpc.Span) {
		switch {
		case name == idMember:
			found = len(object)
		case slices.Contains(subjects(), name):
			subject = json.RawMessage(value.Of(object))
			found++
		}
	})
	if found != 1 || len(subject) < 3 || subject[0] != '"' {
		return object
	}
	with := make(json.RawMessage, 0, len(object)+len(subject)+len(`"id":,`))
	with = append(append(with, `{"id":`...), subject...)
	return append(append(with, ','), object[1:]...)
}
