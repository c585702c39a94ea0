package search

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Tuning says in text how texts are searched. Empty fields mean the defaults.
type Tuning struct {
	Languages     string // one of Languages, and those of collections: german,notes=french
	BM25          string // K1/B of collections: memory=1.2/0.75,notes=0.9/0.4
	Conversations string // off, or weights of Conversation: zone=0.4,speaker=0.125
}

// Options parses the tuning.
func (t Tuning) Options() (o Options, err error) {
	if o, err = parseLanguages(t.Languages); err != nil {
		return o, err
	}
	if o.Collections, err = parseBM25(t.BM25); err != nil {
		return o, err
	}
	o.Conversation, err = parseConversations(t.Conversations)
	return o, err
}

// parseLanguages parses a language, and those of collections, as in german,notes=french.
func parseLanguages(text string) (o Options, err error) {
	o.Languages = map[string]string{}
	for item := range strings.SplitSeq(text, ",") {
		collection, language, ofCollection := strings.Cut(strings.TrimSpace(item), "=")
		if !ofCollection {
			collection, language = "", collection
		}
		if _, err := NewAnalyser(language); err != nil {
			return o, fmt.Errorf("the language of what is searched: %w", err)
		}
		if ofCollection {
			o.Languages[collection] = language
		} else if language != "" {
			o.Language = language
		}
	}
	return o, nil
}

// parseBM25 parses how collections score, as in memory=1.2/0.75,notes=0.9/0.4.
func parseBM25(text string) (map[string]Params, error) {
	params := map[string]Params{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		collection, numbers, given := strings.Cut(item, "=")
		k1, b, both := strings.Cut(numbers, "/")
		p := Params{}
		var errK1, errB error
		p.K1, errK1 = strconv.ParseFloat(k1, 64)
		p.B, errB = strconv.ParseFloat(b, 64)
		if !given || !both || collection == "" || errK1 != nil || errB != nil || !(p.K1 > 0 && p.K1 <= 10) || !(p.B > 0 && p.B <= 1) {
			return nil, fmt.Errorf("how collections score: %q is not COLLECTION=K1/B, with k1 above 0 and at most 10, and b above 0 and at most 1", item)
		}
		params[collection] = p
	}
	return params, nil
}

// parseConversations parses how turns of conversations are searched: off, or weights as in zone=0.4,speaker=0.125.
// A weight of 0 turns its part off.
func parseConversations(text string) (c Conversation, err error) {
	const off = -1 // zero fields mean the default
	if strings.TrimSpace(text) == "off" {
		return Conversation{Window: off, Cover: off, Zone: off, Question: off, Speaker: off, Date: off}, nil
	}
	fields := map[string]*float64{"window": &c.Window, "cover": &c.Cover, "zone": &c.Zone, "question": &c.Question, "speaker": &c.Speaker,
		"date": &c.Date, "assistant": &c.Assistant, "filler": &c.Filler, "dated": &c.Dated}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, number, _ := strings.Cut(item, "=")
		weight, err := strconv.ParseFloat(number, 64)
		field := fields[name]
		if err != nil || field == nil || !(weight >= 0 && weight <= 10) {
			return c, fmt.Errorf("how conversations are searched: %q is not off, nor one of %s with a number from 0 to 10, as in zone=0.4", item, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		if *field = weight; weight == 0 {
			*field = off
		}
	}
	return c, nil
}
