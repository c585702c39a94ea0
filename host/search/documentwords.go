package search

// DocumentWords are the words of a document's passages, as its analyser found them for the index, so that a text is analysed once.
type DocumentWords struct {
	By   *Analyser
	said [3][]wordPosition // the speaker, the passages, and the caption
}

// Each calls do for the words in their order until do returns false: those of a turn's speaker, of the passages, and of the caption.
func (w DocumentWords) Each(do func(Word) bool) {
	for _, list := range w.said {
		for _, word := range list {
			if !do(Word{word.wordAnalysis}) {
				return
			}
		}
	}
}

// Word is a word that analysis found.
type Word struct{ *wordAnalysis }

// Term is the index term of the word.
func (w Word) Term() string { return w.term }

// IsStop reports whether the word is a stop word.
func (w Word) IsStop() bool { return w.stop }

// Note returns what was noted of the word the last time it was looked up; nil: nothing.
func (w Word) Note() *Note { return w.note.Load() }

// SetNote notes what is known of the word.
func (w Word) SetNote(n *Note) { w.note.Store(n) }

// Note is what an embedder knows of a word: By tells whose note it is.
type Note struct {
	By     any
	Number int32
}

// Finds reports whether two analysers find the same words.
func (a *Analyser) Finds(other *Analyser) bool {
	return a != nil && other != nil && a.language == other.language
}
