// Cards that come back at growing intervals.
//
//alcove:family reminders 1.0.0
//alcove:license Apache-2.0
//alcove:needs record cards to keep the cards
package main

import alcove "github.com/alcove-memory/alcove/sdk/go"

type Card struct {
	Text                   string
	Days, Times, Ease, Due int
}

var cards = alcove.Records[Card]{Name: "cards"}

// today is the day of the request, since 1970.
func today(c *alcove.Call) int { return int(c.Time() / alcove.Time(alcove.Day)) }

// Add a card, due today.
//
//alcove:tool reminders_add
type Add struct {
	Card string `alcove:"required,max=100"`
	Text string `alcove:"required"`
}

type Added struct {
	Card string
	Due  int
}

func (in Add) Call(c *alcove.Call) (Added, error) {
	if in.Card == "" {
		return Added{}, alcove.Errorf(alcove.InvalidArgument, "name the card")
	}
	return Added{in.Card, today(c)}, cards.Put(c, in.Card, Card{Text: in.Text, Ease: 250, Due: today(c)})
}

// Grade a card from 0 (forgotten) to 5 (known at once), and set when it is due, in days since 1970.
//
//alcove:tool reminders_review
type Review struct {
	Card  string `alcove:"required"`
	Grade int    `alcove:"required,min=0,max=5"`
}

type Reviewed struct {
	Card      string
	Days, Due int
}

func (in Review) Call(c *alcove.Call) (Reviewed, error) {
	v, ok, err := cards.Get(c, in.Card)
	if err != nil {
		return Reviewed{}, err
	}
	if !ok {
		return Reviewed{}, alcove.Errorf(alcove.NotFound, "there is no card %s", in.Card)
	}
	v.schedule(in.Grade)
	v.Due = today(c) + v.Days
	return Reviewed{in.Card, v.Days, v.Due}, cards.Put(c, in.Card, v)
}

func (v *Card) schedule(grade int) {
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

// List the cards that are due, by their names.
//
//alcove:tool reminders_due read-only
type Due struct{}

type DueCard struct{ Card, Text string }

type AllDue struct{ Cards []DueCard }

func (Due) Call(c *alcove.Call) (AllDue, error) {
	all := AllDue{Cards: []DueCard{}}
	for card, err := range cards.All(c, "") {
		if err != nil {
			return all, err
		}
		if card.Value.Due <= today(c) {
			all.Cards = append(all.Cards, DueCard{card.Key, card.Value.Text})
		}
	}
	return all, nil
}

func init() { alcove.Serve(alcove.New(Add{}, Review{}, Due{})) }

func main() {}
