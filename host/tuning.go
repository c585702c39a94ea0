package host

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/search"
)

// searching is how texts are searched.
func (o Options) searching() (s search.Options, err error) {
	if s, err = searched(o.Language); err != nil {
		return s, err
	}
	if s.Collections, err = tune(o.BM25); err != nil {
		return s, err
	}
	s.Conversation, err = converse(o.Conversations)
	return s, err
}

// tune reads how collections score, as in "memory=1.2/0.75,notes=0.9/0.4": k1 and b of BM25.
func tune(bm25 string) (map[string]search.Params, error) {
	tuned := map[string]search.Params{}
	for _, one := range strings.Split(bm25, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		collection, numbers, given := strings.Cut(one, "=")
		k1, b, both := strings.Cut(numbers, "/")
		p := search.Params{}
		var errK1, errB error
		p.K1, errK1 = strconv.ParseFloat(k1, 64)
		p.B, errB = strconv.ParseFloat(b, 64)
		if !given || !both || collection == "" || errK1 != nil || errB != nil || !(p.K1 > 0 && p.K1 <= 10) || !(p.B > 0 && p.B <= 1) {
			return nil, fmt.Errorf("how collections score: %q is not COLLECTION=K1/B, with k1 above 0 and at most 10, and b above 0 and at most 1", one)
		}
		tuned[collection] = p
	}
	return tuned, nil
}

// converse reads how turns of conversations are searched: "off", or "neighbour=0.5,speaker=0.2,date=1", where 0 is off, too.
func converse(text string) (search.Conversation, error) {
	const off = -1 // zero fields mean the default
	var c search.Conversation
	if strings.TrimSpace(text) == "off" {
		return search.Conversation{Neighbour: off, Speaker: off, Date: off}, nil
	}
	for _, one := range strings.Split(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		name, number, _ := strings.Cut(one, "=")
		value, err := strconv.ParseFloat(number, 64)
		to := map[string]*float64{"neighbour": &c.Neighbour, "speaker": &c.Speaker, "date": &c.Date}[name]
		if err != nil || to == nil || !(value >= 0 && value <= 10) {
			return c, fmt.Errorf("how conversations are searched: %q is not off, nor one of neighbour, speaker and date with a number from 0 to 10, as in speaker=0.2", one)
		}
		if *to = value; value == 0 {
			*to = off
		}
	}
	return c, nil
}
