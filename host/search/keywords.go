package search

import "sync"

// analyserOfWords is the analyser of Terms and Keywords. Making one takes longer than analysing a sentence.
var analyserOfWords = sync.OnceValue(func() *Analyser { return mustAnalyser(NewAnalyser(english)) })

// Terms returns the index terms of an English text in order; stop words are included, unstemmed.
func Terms(text string) []string { return analyserOfWords().Terms(text) }

// Keywords returns the distinct terms of an English text, sorted: those that are not stop words, or all if there are no
// others.
func Keywords(text string) []string { return analyserOfWords().terms(text) }
