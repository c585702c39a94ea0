package words

// thoughts are the types of a thought, and the words that show each.
func thoughts() []struct{ name, cues string } {
	return []struct{ name, cues string }{
		{"question", "what why how when where who which whether"},
		{"decision", "decide decided decision choose chose chosen will going"},
		{"plan", "plan planned next then step steps todo should need needs"},
		{"reflection", "think thought felt feel feeling wonder remember realize realized noticed"},
		{"observation", "is are was were has have saw see seen shows"},
	}
}

// ThoughtType is the type of a thought, as most of its words show: question, decision, plan, reflection or observation.
func ThoughtType(text string) string {
	if text = Cut(text, Short); len(text) > 0 && text[len(text)-1] == '?' {
		return "question"
	}
	list, found, most := Split(text), "observation", 0
	for _, t := range thoughts() {
		if n := count(list, t.cues); n > most {
			found, most = t.name, n
		}
	}
	return found
}

// longerThan is how long the words are that Similarity compares.
const longerThan = 3

// sameThought is what texts of the same type of thought are more similar.
const sameThought = .2

// Similarity is the share of the words of a text before, longer than three letters, that are also in the next one; more if both are
// thoughts of the same type, and at most 1. A text without such words is similar to nothing.
func Similarity(before, next string) float64 {
	there := map[string]bool{}
	for _, w := range Split(Cut(next, Long)) {
		there[w.Lower] = true
	}
	seen, shared := map[string]bool{}, 0
	for _, w := range Split(Cut(before, Long)) {
		if len([]rune(w.Lower)) <= longerThan || seen[w.Lower] {
			continue
		}
		seen[w.Lower] = true
		if there[w.Lower] {
			shared++
		}
	}
	if len(seen) == 0 {
		return 0
	}
	similar := float64(shared) / float64(len(seen))
	if ThoughtType(before) == ThoughtType(next) {
		similar += sameThought
	}
	return min(similar, 1)
}
