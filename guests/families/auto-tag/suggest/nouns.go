package suggest

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/families/auto-tag/kind"
	"github.com/alcove-memory/alcove/guests/lib/words"
)

// nouns marks the words that are nouns, as far as their form and their neighbours show it: only nouns become tags.
func (s *Suggester) nouns(list []marked) {
	for i := range list {
		list[i].noun = s.noun(list, i)
	}
}

func (s *Suggester) noun(list []marked, i int) bool {
	w := &list[i]
	if w.stop || w.Number || len(w.Lower) > maxTag || len(w.Lower) <= 2 && !w.Acronym && !w.Mixed {
		return false
	}
	if w.Acronym {
		return true
	}
	if w.Mixed {
		return !strings.ContainsAny(w.Lower, "'’")
	}
	if w.Capital && !w.Start {
		return !w.dull
	}
	if w.dull {
		return false
	}
	if w.verb {
		return s.named(list, i) && !list[i-1].noun
	}
	switch s.kinds.Part(&w.Word) {
	case kind.Past:
		return strings.HasSuffix(w.Lower, "eed")
	case kind.Adverb:
		return w.Lower == "family" || w.Lower == "supply" || w.Lower == "assembly" || w.Lower == "anomaly"
	case kind.Gerund:
		return w.activity
	case kind.Base:
		return s.named(list, i)
	case kind.Third:
		return !s.asserts(list, i)
	}
	return !adjectival(w.Lower)
}

// named says whether a word that may be a verb is a noun here: something qualifies it, and it has no object.
func (s *Suggester) named(list []marked, i int) bool {
	if i == 0 || list[i].Apart && list[i].Start {
		return false
	}
	before := &list[i-1]
	if i+1 < len(list) && determiner(list[i+1].Lower) {
		return false
	}
	return !list[i].Apart && (before.noun || determiner(before.Lower) || adjectival(before.Lower) || before.dull && !before.stop || preposition(before.Lower))
}

// asserts says whether a word that ends with s is a verb here: it has a subject, and no verb of the subject follows.
func (s *Suggester) asserts(list []marked, i int) bool {
	if !s.verb(strings.TrimSuffix(list[i].Lower, "s")) && !s.verb(strings.TrimSuffix(list[i].Lower, "es")) {
		return false
	}
	if i == 0 || list[i].Apart || !list[i-1].noun && !list[i-1].Capital && !pronoun(list[i-1].Lower) {
		return false
	}
	if i+1 == len(list) || list[i+1].Apart {
		return true
	}
	next := &list[i+1]
	return s.kinds.Part(&next.Word) != kind.Past && !auxiliary(next.Lower)
}

// verb says whether a word may be a verb.
func (s *Suggester) verb(w string) bool {
	return s.lexicon.words[w].verb || s.kinds.Part(&words.Word{Lower: w}) == kind.Base
}

func auxiliary(w string) bool {
	switch w {
	case "is", "are", "was", "were", "has", "have", "had", "can", "could", "may", "must", "should", "will", "would", "do", "does", "did":
		return true
	}
	return false
}

func determiner(w string) bool {
	switch w {
	case "a", "an", "the", "this", "that", "these", "those", "my", "our", "your", "his", "her", "its", "their", "each", "every", "all", "any", "no", "some",
		"another", "both", "two", "three", "four", "more", "most", "which":
		return true
	}
	return false
}

func pronoun(w string) bool {
	switch w {
	case "it", "he", "she", "that", "this", "which", "who", "everybody", "nobody", "everyone":
		return true
	}
	return false
}

func preposition(w string) bool {
	switch w {
	case "of", "for", "in", "on", "at", "by", "with", "from", "into", "per", "via", "without", "during", "before", "after", "under", "over", "about":
		return true
	}
	return false
}

// adjectival says whether the ending of a word is one of adjectives.
func adjectival(w string) bool {
	if len(w) < 6 {
		return false
	}
	for _, ending := range [...]string{"able", "ible", "ful", "ous", "ive", "less", "ish", "iest"} {
		if strings.HasSuffix(w, ending) {
			switch w {
			case "archive", "executive", "drive", "table", "variable", "cable", "deliverable", "objective", "incentive", "perspective", "archives", "initiative":
				return false
			}
			return true
		}
	}
	return false
}

// verbs are words that are verbs after a noun, and nouns elsewhere.
const verbs = `leak come charge meet fire bounce trip raise crackle lack transcode shrink roll hang lose kick tell let drop slip point ship climb drain draw
jam fail crash panic freeze beep drip spill stall lag spike peak rank rest smell taste bite bark rain snow stretch swell sway tilt trail claim reach vote yell swap trust`

// activities are nouns that end with -ing.
const activities = `swimming billing pricing onboarding testing logging caching hosting training meeting painting building parking hiring budgeting shopping
heating housing clothing wedding tuning monitoring routing scheduling streaming engineering marketing accounting banking booking catering cleaning cooking
cycling running hiking climbing gardening packaging shipping plumbing lighting branding staging tracing sharding partitioning indexing encoding rendering
licensing reporting recycling clustering batching throttling ranking rating screening sewing knitting baking roofing wiring networking messaging modeling
modelling profiling debugging linting benchmarking refactoring versioning provisioning forecasting fundraising invoicing dunning coaching mentoring
offboarding staffing sailing skiing surfing camping fishing riding racing stretching boxing wrestling diving rowing dancing singing writing reading
vacuuming laundering composting seeding pruning insulating landing lodging seating dining drawing recording stuffing icing frosting filling pudding dressing
topping seasoning spring string king ring wing ceiling evening earring offspring railing siding flooring scaffolding`

// dulls are words that are nouns, adjectives or verbs and say little about what a text is about: they never become tags by themselves.
const dulls = `percent percentage euro euros dollar dollars pound pounds cent cents kilometre kilometres km metre metres meter meters gram grams kilo kilos
litre litres second seconds moment morning noon midnight piece pieces pair half quarter quarters level side end ends beginning middle amount total sum rest
bit bunch couple dozen item items name names case cases reason reasons cause result results problem problems issue issues error errors failure failures
fault faults mistakes fix fixes decision decisions correction plans lesson lessons summary session sessions entry entries statement fact facts idea ideas
question questions answer answers point points topic topics kinds sort sorts type types form forms place places area areas matter matters goal goals aim
aims target targets step steps phase stage stages round rounds turn turns today's yesterday's week's everybody somebody anybody
north south east west left top bottom front inside outside
open cold hot warm cool new newer newest old older oldest slow slower slowest fast faster quick quicker long longer longest short shorter high higher highest
low lower lowest big bigger biggest large larger small smaller smallest full empty free busy clean dirty dry wet hard soft easy simple complex main major minor
full whole entire single double triple multiple extra additional final last past current present future recent early earlier late later latest next own same
separate different similar specific general common rare daily nightly weekly monthly yearly annual hourly overnight internal external public private local
global remote manual automatic default custom optional mandatory required missing available ready live dead due safe secure stable valid invalid broken correct
wrong false true real actual exact fine okay ok great bad worse worst better best clear dark light bright loud quiet strong weak cheap cheaper cheapest
expensive pricey young happy sad sick ill tired red green blue yellow white black brown grey gray orange pink purple british german french english spanish
italian dutch european american polish finnish czech swedish tiny huge deep shallow thick thin wide narrow flat round sharp heavy empty sour sweet fresh
plain pure raw rough smooth tight loose upper inner outer read-only average maximum minimum max min initial original previous upcoming likely certain
several enough spare idle unused unknown strange weird odd even rude polite careful thorough technical official formal informal legal medical digital
physical virtual static dynamic primary secondary respective opposite third fourth fifth sixth seventh eighth ninth tenth hundreds thousands million millions
billion eleven twelve twenty thirty forty fifty sixty seventy eighty ninety mr mrs ms dr prof st whenever unless until upon per via plus versus vs
twice once ago abroad ahead apart aside forward together anymore nowadays meanwhile afterwards beforehand otherwise therefore hence thus else
except besides despite throughout within against among toward cause cannot must could would should might
shut grew grown fell fallen lit stuck flown drawn blown torn worn hurt
came leave leaves left miss misses run runs ran happens appear appears seem seems become becomes remain remains stay stays depend depends
include includes contain contains belong belongs consist consists exist exists occur occurs cost costs costed weigh weighs last lasts
arrive arrives die dies grow grows rise rises fall falls drop drops climb climbs jump jumps sink sinks double doubles halve halves
want wants need needs like likes love loves hate hates enjoy enjoys wish wishes hope hopes expect expects seem allow allows
warn warns suspend suspends block blocks deliver delivers speak speaks sleep sleeps eat eats drink drinks walk walks drive drives
cause causes require requires mean means help helps cover covers match matches fit fits feel feels smell smells sound sounds
bring brings carry carries hold holds lead leads pull pulls sell sells send sends sit sits stand stands throw throws wear wears win wins
handle handles hit hits keep keeps lose loses pick picks refuse refuses agree agrees ask asks begin begins break breaks
worth silent prior unpaid parental calm brave tb mb gb kb mbit kbit kg mm cm ms kw kwh lux watts watt volt person persons head organic
numb inflated sealed opposite visible loose severe frozen online asleep awake alone aware alike rear
serve serves accept accepts return returns expire expires happen spare`
