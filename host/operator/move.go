package operator

import "time"

// MoveStoreRequest says where a store is to be. Exactly one of Store and File is set.
type MoveStoreRequest struct {
	Store string `json:"store,omitempty"` // "directory": files of the data directory; or the URL of a database, without a password
	File  string `json:"file,omitempty"`  // has the URL, which may have a password
	Space string `json:"space,omitempty"` // of the database; empty: as the URL says
}

// MoveBegun is a store that was copied and verified, and that is about to be switched over.
type MoveBegun struct {
	Move    string        `json:"move"` // its id
	To      string        `json:"to"`   // where, for people
	Entries int           `json:"entries"`
	Bytes   int64         `json:"bytes"`
	Rounds  int           `json:"rounds"` // the first copies everything, the others what was written meanwhile
	Took    time.Duration `json:"took_ns"`
}

// MoveEnded is how a move of a store ended.
type MoveEnded struct {
	Move  string        `json:"move,omitempty"`
	To    string        `json:"to,omitempty"`
	Error string        `json:"error,omitempty"` // the store stayed where it was; empty: it was moved
	Held  time.Duration `json:"held_ns"`         // for how long nothing could be written, but for closing and opening
}
