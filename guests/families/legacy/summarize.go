package legacy

import (
	"cmp"
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Summarize stores a summary of the facts about a topic, and marks the facts as merged into it. The summary lists the first ten facts; no
// language model is asked. Facts that the caller may not change are left out.
//
//alcove:description Deprecated: use memory_search_facts, memory_store_fact and memory_mark_facts_merged.
//alcove:tool
//alcove:title Summarize a topic
//alcove:camel
type Summarize struct {
	Topic    string `alcove:"required,min=1"`
	MaxFacts int    `alcove:"advanced,default=50,min=1,max=50"`

	ScopeIDs []string `alcove:"name=scopeIds,alias=namespaces"` // Scopes to search; all if left out.
}

// Summary is a stored summary.
//
//alcove:camel
type Summary struct {
	FactID            alcove.ID
	ConsolidatedCount int // How many facts are merged into it.
	notice
}

// Bounds of a summary.
const (
	mostQuoted    = 10  // facts
	longestQuoted = 500 // bytes of a fact
)

// Call stores it.
func (in Summarize) Call(c *alcove.Call) (out Summary, err error) {
	out.notice = replacedBySuccessors("memory_summarize")
	f, err := ask(c, "memory_search_facts", given{"topic": in.Topic, "limit": in.MaxFacts}.texts("scopeIds", in.ScopeIDs))
	if err == nil {
		f.Facts, err = writable(c, f.Facts)
	}
	if err != nil {
		return out, err
	}
	if len(f.Facts) == 0 {
		return out, alcove.Errorf(alcove.NotFound, "no facts are about %q: nothing is summarized", in.Topic)
	}
	text, ids, err := quoted(in.Topic, f.Facts)
	if err != nil {
		return out, err
	}
	stored, err := store(c, given{"content": text, "factType": "insight"}.texts("tags", []string{"summary"}))
	if err != nil {
		return out, err
	}
	out.FactID, out.ConsolidatedCount = stored.FactID, len(ids)
	merge := given{"targetFactId": stored.FactID.String()}.texts("sourceFactIds", ids)
	return out, c.CallTool("memory_mark_facts_merged", map[string]any(merge), nil)
}

// writable are those of some facts that the caller may change.
func writable(c *alcove.Call, facts []alcove.Raw) (list []alcove.Raw, err error) {
	may := map[string]bool{c.Namespace: true}
	for _, raw := range facts {
		var f fact
		if err := readable(scan.Decode(raw, &f), "a fact"); err != nil {
			return nil, err
		}
		namespace := cmp.Or(f.FactID.Namespace, c.Namespace)
		allowed, known := may[namespace]
		if !known {
			can, err := c.CallerCan(alcove.CallerCanRequest{Action: "write", Namespace: namespace})
			if err != nil {
				return nil, err
			}
			allowed = can.Allowed
			may[namespace] = allowed
		}
		if allowed {
			list = append(list, raw)
		}
	}
	return list, nil
}

// quoted is the text of a summary, and the ids of the facts in it.
func quoted(topic string, facts []alcove.Raw) (text string, ids []string, err error) {
	text = "Summary of " + count(len(facts), "fact") + " about \"" + topic + "\":\n"
	for i, raw := range facts {
		var f fact
		if err := readable(scan.Decode(raw, &f), "a fact"); err != nil {
			return "", nil, err
		}
		ids = append(ids, f.FactID.String())
		if i >= mostQuoted {
			continue
		}
		said, err := textOf(raw)
		if err != nil {
			return "", nil, err
		}
		text += "\n" + strconv.Itoa(i+1) + ". " + short(said)
	}
	if more := len(facts) - mostQuoted; more > 0 {
		text += "\n\nand " + count(more, "more fact")
	}
	return text, ids, nil
}

// short is the beginning of a text.
func short(text string) string {
	if len(text) <= longestQuoted {
		return text
	}
	end := longestQuoted
	for text[end]&0xC0 == 0x80 { // within a character
		end--
	}
	return text[:end] + "…"
}
