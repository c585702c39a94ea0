package graph

import (
	"hash/fnv"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// edges are links, each stored twice: where it begins under out|src|relation|dst, and where it ends under in|dst|relation|src, so that the
// links of a node in either direction are those under one prefix.
var edges = alcove.Records[edge]{Name: "edge", Open: true, Sync: "newest"}

// edge is a link as it is stored.
type edge struct {
	ValidFrom  alcove.Time `json:"valid_from,omitzero"`
	ValidUntil alcove.Time `json:"valid_until,omitzero"` // zero: it still holds
	ObservedBy string      `json:"observed_by,omitzero"` // the agent that said so
	Confidence float64     `json:"confidence"`
	Declared   bool        `json:"declared,omitzero"` // entityIds of the memory say it
	Own        string      `json:"own,omitzero"`      // where the key has only a hash of it: the key of this end
	Node       string      `json:"node,omitzero"`     // the other end
}

// hop is a link as seen from one of its ends.
type hop struct {
	edge
	Relation string
	Other    alcove.ID
}

// holds reports whether a link holds at an instant; zero stands for any.
func (e *edge) holds(at alcove.Time) bool {
	return at == 0 || e.ValidFrom <= at && (e.ValidUntil == 0 || at < e.ValidUntil)
}

// ended reports whether a link ended before now, or now.
func (e *edge) ended(now alcove.Time) bool { return e.ValidUntil != 0 && e.ValidUntil <= now }

// direction is how a link is seen from a node.
type direction string

const (
	outward direction = "out"
	inward  direction = "in"
)

// mostPart is the length of the longest part that is in a key as it is, so that a key has at most 1 KiB.
const mostPart = 320

// escaped is a part of a key, in which | and # separate. A long one is its hash.
func escaped(part string) string {
	if strings.ContainsAny(part, "%|#") {
		part = strings.NewReplacer("%", "%25", "|", "%7C", "#", "%23").Replace(part)
	}
	if len(part) <= mostPart {
		return part
	}
	h := fnv.New128a()
	h.Write([]byte(part))
	return "%~" + hexadecimal(h.Sum(nil))
}

func hexadecimal(data []byte) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 2*len(data))
	for _, b := range data {
		out = append(out, digits[b>>4], digits[b&15])
	}
	return string(out)
}

func unescaped(part string) (text string, hashed bool) {
	if strings.HasPrefix(part, "%~") {
		return "", true
	}
	if strings.Contains(part, "%") {
		part = strings.NewReplacer("%23", "#", "%7C", "|", "%25", "%").Replace(part)
	}
	return part, false
}

// nodePart is how a record in a namespace names a node: by its key, and one of another namespace as namespace#key.
func nodePart(namespace string, node alcove.ID) string {
	if node.Namespace == namespace {
		return escaped(node.Key)
	}
	return escaped(node.Namespace) + "#" + escaped(node.Key)
}

// prefix is that of the keys of a node's links in a direction, in the node's namespace.
func prefix(d direction, node alcove.ID) string { return string(d) + "|" + escaped(node.Key) + "|" }

// edgeKey is the key of a link in the namespace of the node that it is seen from.
func edgeKey(d direction, node alcove.ID, relation string, other alcove.ID) string {
	return prefix(d, node) + escaped(relation) + "|" + nodePart(node.Namespace, other)
}

// readHop is a stored link with the given prefix of its key cut off.
func readHop(item *alcove.Item[edge], prefix string) (h hop, ok bool) {
	h = hop{edge: item.Value}
	return h, h.name(item.Namespace, strings.TrimPrefix(item.Key, prefix))
}

// name reads relation and other end in the rest of the key of a link that is stored in a namespace.
func (h *hop) name(namespace, rest string) bool {
	relation, other, ok := strings.Cut(rest, "|")
	if !ok {
		return false
	}
	h.Relation, _ = unescaped(relation) // it is too short for a hash
	foreign, key, isForeign := strings.Cut(other, "#")
	if !isForeign {
		key = other
	}
	text, hashed := unescaped(key)
	if hashed {
		h.Other = alcove.ParseID(h.Node)
		return h.Other.Key != ""
	}
	if isForeign {
		namespace, _ = unescaped(foreign)
	}
	h.Other = alcove.ID{Namespace: namespace, Key: text}
	return true
}

// isHashed reports whether the key of a link has only a hash of the other end.
func isHashed(key string) bool {
	at := max(strings.LastIndexByte(key, '|'), strings.LastIndexByte(key, '#'))
	return strings.HasPrefix(key[at+1:], "%~")
}

// triple is what a link is known by.
type triple struct {
	from, to alcove.ID
	relation string
}

func (t triple) key() string { return edgeKey(outward, t.from, t.relation, t.to) }

// get is the stored link; ok is false for none.
func (t triple) get(c *alcove.Call) (edge, bool, error) {
	return edges.In(t.from.Namespace).Get(c, t.key())
}

// put stores a link at both of its ends.
func (t triple) put(c *alcove.Call, e edge) error {
	if err := edges.In(t.from.Namespace).Put(c, t.key(), e.between(t.from, t.to)); err != nil {
		return err
	}
	return edges.In(t.to.Namespace).Put(c, edgeKey(inward, t.to, t.relation, t.from), e.between(t.to, t.from))
}

// between is the link with its ends, where the key has only hashes of them.
func (e edge) between(own, node alcove.ID) edge {
	e.Own, e.Node = "", ""
	if strings.HasPrefix(escaped(own.Key), "%~") {
		e.Own = own.Key
	}
	if strings.HasPrefix(escaped(node.Key), "%~") {
		e.Node = node.String()
	}
	return e
}

// remove removes a link from both of its ends.
func (t triple) remove(c *alcove.Call) error {
	if _, err := edges.In(t.from.Namespace).Delete(c, t.key()); err != nil {
		return err
	}
	_, err := edges.In(t.to.Namespace).Delete(c, edgeKey(inward, t.to, t.relation, t.from))
	return err
}

// source is where a link that is stored under out begins.
func source(item *alcove.Item[edge]) (alcove.ID, bool) {
	part, _, _ := strings.Cut(strings.TrimPrefix(item.Key, string(outward)+"|"), "|")
	key, hashed := unescaped(part)
	if hashed {
		key = item.Value.Own
	}
	return alcove.ID{Namespace: item.Namespace, Key: key}, key != ""
}
