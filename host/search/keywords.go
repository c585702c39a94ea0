package search

// Terms are the index terms of an English text, stop words included, unstemmed.
func Terms(text string) []string { return mustAnalyser(english).Terms(text) }

// Keywords are the distinct content terms of an English text, sorted: those that are no stop words, or
// all when there are no others.
func Keywords(text string) []string { return mustAnalyser(english).terms(text) }
