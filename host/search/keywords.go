package search

// Keywords are the distinct terms of a text that say what it is about, sorted: those that are no stop words, or all when
// there are no others.
func Keywords(text string) []string { return queryTerms(text) }
