package search

// Terms returns the index terms of an English text in order; stop words are included, unstemmed.
func Terms(text string) []string { return mustAnalyser(NewAnalyser(english)).Terms(text) }

// Keywords returns the distinct terms of an English text, sorted: those that are not stop words, or all if there are no
// others.
func Keywords(text string) []string { return mustAnalyser(NewAnalyser(english)).terms(text) }
