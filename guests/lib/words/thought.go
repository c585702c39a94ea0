package words

import "strings"

// Thought is the kind of a thought, by the way it is put.
type Thought string

// The kinds of thoughts.
const (
	Question    Thought = "question"
	Reflection  Thought = "reflection"
	Plan        Thought = "plan"
	Feeling     Thought = "feeling"
	Idea        Thought = "idea"
	Opinion     Thought = "opinion"
	Observation Thought = "observation"
	Fact        Thought = "fact"
	Unknown     Thought = "unknown"
)

// signs are phrases that show a kind of thought. The first kind that matches counts.
var signs = []struct {
	thought Thought
	phrases []string
}{
	{Reflection, []string{"i think", "i realize", "i realise", "i wonder", "i notice", "i believe", "it seems", "i feel like", "i understand", "i learned"}},
	{Plan, []string{"will", "going to", "should", "plan to", "intend to", "tomorrow", "next", "later"}},
	{Feeling, []string{"i feel", "i'm happy", "i'm sad", "i'm angry", "i'm excited", "i'm frustrated", "i'm worried", "i'm glad", "i'm disappointed"}},
	{Idea, []string{"what if", "maybe we could", "i have an idea", "i thought of", "we could", "it might be"}},
	{Opinion, []string{"i prefer", "i like", "i don't like", "in my opinion", "i'd rather", "better than", "worse than"}},
	{Observation, []string{"i see", "i observe", "i found", "i discovered", "it appears", "looks like"}},
}

var hedges = []string{"maybe", "perhaps", "might", "could be", "possibly", "probably", "i guess", "i'm not sure"}

// shortest is the length of the shortest text that states a fact, in bytes.
const shortest = 11

// ThoughtOf returns the kind of thought that a text expresses.
func ThoughtOf(text string) Thought {
	text = Cut(text, Long)
	if strings.HasSuffix(strings.TrimSpace(text), "?") {
		return Question
	}
	spoken := phrases(text)
	for _, s := range signs {
		if containsAny(spoken, s.phrases) {
			return s.thought
		}
	}
	if len(text) >= shortest && !containsAny(spoken, hedges) {
		return Fact
	}
	return Unknown
}

// phrases is a text in lower case, with single blanks around each word.
func phrases(text string) string {
	var out strings.Builder
	out.WriteByte(' ')
	for _, w := range Split(text) {
		out.WriteString(strings.ReplaceAll(w.Lower, "’", "'"))
		out.WriteByte(' ')
	}
	return out.String()
}

func containsAny(spoken string, list []string) bool {
	for _, phrase := range list {
		if strings.Contains(spoken, " "+phrase+" ") {
			return true
		}
	}
	return false
}

// sameThought is added to the similarity of texts that express the same kind of thought.
const sameThought = .2

// Similarity is how much of the topic of a text the next one shares, from 0 to 1: the share of the words of more than three letters in
// before that next contains, and more for the same kind of thought. A text without such words has no topic: ok is false then.
func Similarity(before, next string) (similarity float64, ok bool) {
	of, in := topic(before), strings.ToLower(Cut(next, Long))
	if len(of) == 0 || len(topic(next)) == 0 {
		return 1, false
	}
	found := 0
	for _, w := range of {
		if strings.Contains(in, w) {
			found++
		}
	}
	similarity = float64(found) / float64(len(of))
	if ThoughtOf(before) == ThoughtOf(next) {
		similarity += sameThought
	}
	return min(similarity, 1), true
}

// topic are the words of a text that are longer than three letters, in lower case.
func topic(text string) (list []string) {
	for _, w := range Split(Cut(text, Long)) {
		if letters := 0; len(w.Lower) > 3 {
			for range w.Lower {
				letters++
			}
			if letters > 3 {
				list = append(list, w.Lower)
			}
		}
	}
	return list
}

// HasTopic reports whether a text has words of more than three letters.
func HasTopic(text string) bool { return len(topic(text)) > 0 }
