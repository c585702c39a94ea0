package search

// Terms are what a text is found by in English. Stop words are among them, unstemmed.
func Terms(text string) []string { return mustAnalyser(english).Terms(text) }

// Keywords are the distinct terms of an English text that say what it is about, sorted: those that are no stop words, or
// all when there are no others.
func Keywords(text string) []string { return mustAnalyser(english).terms(text) }
