package declare

import "testing"

func TestADescriptionDoesNotRepeatTheNameButKeepsAVerb(t *testing.T) {
	for text, want := range map[string]string{
		"Add adds a card.": "Adds a card.", "Add is a card.": "A card.", "Add a card.": "Add a card.", "Add an entry.": "Add an entry.", "Add the card.": "Add the card.",
		"Adding a card.": "Adding a card.", "Add": "Add", "Add another card.": "Another card.",
	} {
		if got, _ := Described(text, "Add", nil); got != want {
			t.Errorf("%q describes it as %q, want %q", text, got, want)
		}
	}
}
