package sessions

import (
	"strconv"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

var (
	conversations = alcove.Records[conversation]{Name: "conversation", Sync: "newest"}
	// items are the facts of conversations. Turns are memories.
	items = alcove.Records[item]{Name: "item", Indexes: [][]string{{"factId"}}, Sync: "newest"}
)

// conversation is a thread of turns and facts.
//
//alcove:camel
type conversation struct {
	SessionID    string
	AgentID      string // that created it
	Participants []string
	Summary      string
	Tags         []string
	Importance   float64
	Count        int // of its turns and facts
	alcove.Lifecycle
}

// item is a fact of a conversation. Its key is the conversation's, and its position.
//
//alcove:camel
type item struct {
	ConversationID string
	FactID         string
}

// itemKey is the key of what is at a position of a conversation.
func itemKey(conversation string, position int) string {
	n := strconv.Itoa(position)
	return conversation + "/" + strings.Repeat("0", max(6-len(n), 0)) + n
}

// getConversation returns a conversation. An archived one is not there.
func getConversation(c *alcove.Call, id alcove.ID) (conversation, alcove.ID, error) {
	id = at(c, id)
	v, ok, err := conversations.In(id.Namespace).Get(c, id.Key)
	if err == nil && (!ok || v.Archived()) {
		err = alcove.Errorf(alcove.NotFound, "there is no conversation %q in %s", id.Key, id.Namespace)
	}
	return v, id, err
}
