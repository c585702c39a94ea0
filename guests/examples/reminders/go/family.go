// Command reminders is a family of cards that come back at growing intervals.
package main

import (
	"encoding/json"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

type card struct {
	Text  string `json:"text"`
	Days  int    `json:"days"`
	Times int    `json:"times"`
	Ease  int    `json:"ease"`
	Due   int    `json:"due"`
}

type input struct {
	Card, Text string
	Grade      int
}

// today is the day of the request, since 1970.
func today(c *alcove.Call) int { return int(c.Time() / alcove.Time(alcove.Day)) }

func keep(c *alcove.Call, name string, v card) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = c.RecordPut(alcove.RecordPutRequest{Collection: "cards", Items: []alcove.RecordItem{{Key: name, Value: value}}})
	return err
}

func add(c *alcove.Call, in input) (any, error) {
	if in.Card == "" {
		return nil, alcove.Errorf(alcove.InvalidArgument, "name the card")
	}
	return map[string]any{"card": in.Card, "due": today(c)}, keep(c, in.Card, card{Text: in.Text, Ease: 250, Due: today(c)})
}

func review(c *alcove.Call, in input) (any, error) {
	found, err := c.RecordGet(alcove.RecordGetRequest{Collection: "cards", Keys: []string{in.Card}})
	if err != nil {
		return nil, err
	}
	if found.Records[0] == nil {
		return nil, alcove.Errorf(alcove.NotFound, "there is no card %s", in.Card)
	}
	var v card
	if err := json.Unmarshal(found.Records[0].Value, &v); err != nil {
		return nil, err
	}
	v.schedule(in.Grade)
	v.Due = today(c) + v.Days
	return map[string]any{"card": in.Card, "days": v.Days, "due": v.Due}, keep(c, in.Card, v)
}

func (v *card) schedule(grade int) {
	v.Times++
	if grade < 3 {
		v.Times = 0
	}
	switch {
	case v.Times < 2:
		v.Days = 1
	case v.Times == 2:
		v.Days = 6
	default:
		v.Days = (v.Days*v.Ease + 50) / 100
	}
	v.Ease = max(130, v.Ease+10-(5-grade)*(8+(5-grade)*2))
}

func due(c *alcove.Call, _ input) (any, error) {
	all := []map[string]string{}
	for r, err := range c.Records(alcove.RecordListRequest{Collection: "cards"}) {
		if err != nil {
			return nil, err
		}
		var v card
		if err := json.Unmarshal(r.Value, &v); err != nil {
			return nil, err
		}
		if v.Due <= today(c) {
			all = append(all, map[string]string{"card": r.Key, "text": v.Text})
		}
	}
	return map[string]any{"cards": all}, nil
}

func tool(f func(*alcove.Call, input) (any, error)) func(*alcove.Call, alcove.Raw) (alcove.Raw, error) {
	return func(c *alcove.Call, arguments alcove.Raw) (alcove.Raw, error) {
		var in input
		if err := json.Unmarshal(arguments, &in); err != nil {
			return nil, alcove.Errorf(alcove.InvalidArgument, "%v", err)
		}
		out, err := f(c, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

func init() {
	f := alcove.New()
	f.HandleTool("reminders_add", tool(add))
	f.HandleTool("reminders_review", tool(review))
	f.HandleTool("reminders_due", tool(due))
	alcove.Serve(f)
}

func main() {}
