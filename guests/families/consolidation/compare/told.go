package compare

import (
	"cmp"
	_ "embed"
	"slices"
)

//go:embed trees.bin
var treeData string

// How sure trees have to be, in thousandths. Of pairs beside the trainer that they were not learned from, 95 of 100 that
// reach the first two are what they are called, and 97 that reach the last.
const (
	sameLeast       = 1000
	contradictLeast = 1500
	surelyLeast     = 2000
)

// mostReasons is how many signs a verdict names.
const mostReasons = 3

// tell makes a verdict by all signs of a pair, what rules say of it among them.
func (r *Reader) tell(a, b *Fact, d *difference, v Verdict) Verdict {
	s := r.signsOf(a, b, d, v.Relation)
	least := min(sameLeast, contradictLeast)
	alike, apart := r.lexicon.alike.score(&s, least), r.lexicon.apart.score(&s, least)
	ruled := v.Relation
	switch {
	case alike >= sameLeast && alike >= apart && s[signSwapped]+s[signRoles] == 0: // who did what to whom is another fact the other way round
		v.Relation, v.Why = Same, r.lexicon.alike.trees.reasons(&s)
		if ruled.Duplicate() {
			v.Relation = ruled
		}
		v.Sure = alike >= surelyLeast
	case apart >= contradictLeast && s[signOtherScope] == 0:
		v.Relation, v.Why = contradiction(&s), r.lexicon.apart.trees.reasons(&s)
		if ruled.Contradiction() {
			v.Relation = ruled
		}
	default:
		v.Relation = Related
	}
	return v
}

// contradiction is which kind of it signs show.
func contradiction(s *Signs) Relation {
	switch {
	case s[signNegated] > 0:
		return Negated
	case s[signAxesOpposed] > 0 || s[signPrefixed] > 0:
		return Opposite
	}
	return OtherValue
}

// reasons are the signs that spoke for a verdict most.
func (trees Trees) reasons(s *Signs) (why []string) {
	var by [signs]int
	trees.Score(s, &by)
	order := make([]int, signs)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(by[b], by[a]) })
	for _, sign := range order {
		if name := signName(sign); by[sign] > 0 && !slices.Contains(why, name) {
			why = append(why, name)
		}
		if len(why) == mostReasons {
			break
		}
	}
	return why
}

// signName is a sign for people.
func signName(sign int) string {
	if sign >= signCues {
		return "cues"
	}
	return signNames[sign]
}

var signNames = [signCues]string{
	signRuledSame: "rules", signRuledMore: "rules", signRuledNegated: "rules", signRuledOpposite: "rules", signRuledValue: "rules",
	signJaccard: "words", signInLeast: "words", signInMost: "words", signNearLeast: "meaning", signNearMost: "meaning", signRestLeast: "words",
	signRestMost: "words", signAlignedLeast: "meaning", signAlignedMost: "meaning", signStrangeLeast: "meaning", signStrangeMost: "meaning",
	signNearest: "meaning", signNearMean: "meaning", signTexts: "meaning", signRests: "meaning", signNumbersBoth: "numbers", signNumbersLeast: "numbers",
	signNumbersMost: "numbers", signNumbersClash: "numbers", signNumbersOther: "numbers", signNumbersAlone: "numbers", signNumbersMostAlone: "numbers",
	signNamesBoth: "names", signNamesLeast: "names", signNamesMost: "names", signNegated: "negation", signCorrects: "negation", signAxesSame: "opposites",
	signAxesOpposed: "opposites", signPrefixed: "opposites", signSwapped: "order", signCauses: "causes", signScopes: "scope", signOtherScope: "scope",
	signMoments: "time", signPast: "time", signMany: "slot", signHeld: "slot", signSole: "slot", signChanged: "time", signReplaced: "slot",
	signReplacedNear: "slot", signFrontLeast: "subject", signFrontMost: "subject", signBackLeast: "slot", signBackMost: "slot", signWordsLeast: "length",
	signWordsRatio: "length", signOrder: "order", signLetters: "spelling", signFirst: "subject", signRoles: "order", signNewFront: "subject",
	signNewFrontMost: "subject", signNewBack: "slot", signNewBackMost: "slot",
}
