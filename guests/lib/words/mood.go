package words

import (
	"math"
	"strings"
	"unicode"
)

// Mood is the emotion of a text in three dimensions.
type Mood struct {
	Valence   float64 // -1 unpleasant to 1 pleasant
	Arousal   float64 // 0 calm to 1 excited
	Dominance float64 // 0 unsure to 1 commanding
}

var (
	pleasant = []string{
		"happy", "great", "excellent", "wonderful", "love", "loved", "joy", "excited", "amazing", "awesome", "fantastic", "good", "nice",
		"thank", "thanks", "appreciate", "glad",
	}
	unpleasant = []string{
		"sad", "angry", "hate", "terrible", "awful", "bad", "horrible", "frustrated", "annoyed", "disappointed", "upset", "worried", "afraid", "fear",
	}
	commanding = []string{"must", "need to", "have to", "should", "will", "going to", "definitely", "certainly"}
	unsure     = []string{"maybe", "perhaps", "i don't know", "not sure", "might", "could be", "possibly"}
)

// What words and signs do to a mood.
const (
	valence    = .6 // of a pleasant word, or minus that of an unpleasant one
	exclaimed  = .3 // arousal of an exclamation mark; more than three are 1
	shouted    = .4 // arousal of capital letters
	capitals   = .7 // share of the letters that is shouting
	mostQuiet  = 10 // letters that are too few to shout
	neutral    = .5 // dominance
	dominant   = .8
	submissive = .2
)

// MoodOf returns the mood of a text, by word lists, exclamation marks and capitals.
func MoodOf(text string) Mood {
	text = Cut(text, Long)
	spoken := phrases(text)
	m := Mood{Arousal: arousal(text), Dominance: neutral}
	if containsAny(spoken, pleasant) {
		m.Valence += valence
	}
	if containsAny(spoken, unpleasant) {
		m.Valence -= valence
	}
	if containsAny(spoken, commanding) {
		m.Dominance = dominant
	}
	if containsAny(spoken, unsure) {
		m.Dominance = submissive
	}
	return m
}

func arousal(text string) (a float64) {
	if n := strings.Count(text, "!"); n > 3 {
		a = 1
	} else {
		a = exclaimed * float64(n)
	}
	letters, upper := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
		}
		if unicode.IsUpper(r) {
			upper++
		}
	}
	if letters > mostQuiet && float64(upper) > capitals*float64(letters) {
		a += shouted
	}
	return min(a, 1)
}

// Distance is how far two moods are apart.
func (m Mood) Distance(other Mood) float64 {
	v, a, d := m.Valence-other.Valence, m.Arousal-other.Arousal, m.Dominance-other.Dominance
	return math.Sqrt(v*v + a*a + d*d)
}
