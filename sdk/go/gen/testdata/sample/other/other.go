// Package other has types of another package.
package other

// Weights are what counts.
type Weights struct {
	Lexical  float64 `json:"lexical" alcove:"default=0.5,min=0"` // how much words count
	Semantic float64 `json:"semantic" alcove:"default=0.5,min=0"`
}
