package graph

import alcove "github.com/alcove-memory/alcove/sdk/go"

var themes = alcove.Records[theme]{Name: "theme", Open: true, Searchable: []string{"name", "description"}, Sync: "newest"}

// theme groups facts and entities under a name.
//
//alcove:camel
type theme struct {
	Name        string
	Description string
	FactIDs     []alcove.ID
	EntityIDs   []alcove.ID
	Importance  float64
	Updated     alcove.Time
	alcove.Lifecycle
}
