package suggest

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/families/auto-tag/kind"
	"github.com/alcove-memory/alcove/guests/lib/words"
)

// The types that a text can have.
const (
	Error        = "error"
	Correction   = "correction"
	Decision     = "decision"
	SteeringRule = "steering_rule"
	Plan         = "plan"
	Insight      = "insight"
	Learning     = "learning"
	Summary      = "session_summary"
	Observation  = "observation"
)

// importances are how important memories of a type are when nothing else is known.
func importances() map[string]float64 {
	return map[string]float64{
		Decision: .8, Error: .7, Insight: .75, Correction: .7, SteeringRule: .85, Learning: .65, Summary: .6, Plan: .6, Observation: .5,
	}
}

// meaning is what a word says about the text that it is in.
type meaning struct {
	stop     bool // says nothing about what the text is about
	dull     bool // says little: no tag by itself
	activity bool // a noun that ends with -ing
	verb     bool // after a noun
	given    bool // a first name
	vague    bool // what many things have
	// lift is what it adds to the importance.
	lift float32
	// joins says that the word and the next one may be a sign together.
	joins bool
}

// lexicon is what is known of words of the language. It is not changed once it is made.
type lexicon struct {
	words map[string]meaning
	pairs map[string]meaning // two words with a blank between
}

// newLexicon reads the lists below.
func newLexicon() *lexicon {
	l := &lexicon{words: map[string]meaning{}, pairs: map[string]meaning{}}
	l.each(dulls, func(m *meaning) { m.dull = true })
	l.each(verbs, func(m *meaning) { m.verb = true })
	l.each(firstNames, func(m *meaning) { m.given = true })
	l.each(vagues, func(m *meaning) { m.vague = true })
	l.each(activities, func(m *meaning) { m.activity = true })
	for _, w := range words.Stops() {
		m := l.words[w]
		m.stop = true
		l.words[w] = m
	}
	l.read(lifts, func(m *meaning, weight float32) { m.lift = weight })
	return l
}

// each sets something of each word of a list.
func (l *lexicon) each(list string, set func(*meaning)) {
	for w := range strings.FieldsSeq(list) {
		m := l.words[w]
		set(&m)
		l.words[w] = m
	}
}

// read reads cues: words or pairs of words with a sign and a digit, tenths.
func (l *lexicon) read(list string, set func(m *meaning, weight float32)) {
	for cue := range strings.SplitSeq(list, ",") {
		cue = strings.TrimSpace(cue)
		at := strings.LastIndexByte(cue, ' ')
		text, weight := cue[:at], float32(cue[len(cue)-1]-'0')/10
		if cue[at+1] == '-' {
			weight = -weight
		}
		first, _, pair := strings.Cut(text, " ")
		in := l.words
		if pair {
			m := l.words[first]
			m.joins = true
			l.words[first] = m
			in = l.pairs
		}
		m := in[text]
		set(&m, weight)
		in[text] = m
	}
}

// lifts are words that say how much depends on a text: on people's safety and health, on money and contracts, on what runs, on what cannot
// be undone. What passes or pleases counts less.
const lifts = `critical +9, important +7, urgent +8, must +4, always +3, never +4, security +5, vulnerability +7, vulnerabilities +7, production +4,
password +5, passwords +5, credentials +5, secret +4, secrets +4, deadline +4, outage +6, breaking +4, blocker +6, emergency +8, allergic +8, allergy +8,
medical +5, legal +4, compliance +5, required +3, crucial +8, essential +6, vital +6, warning +4, data loss +8, lost +4, loses +4, deleted +4, wiped +5,
leak +3, leaked +5, breach +8, fraud +5, attack +5, exploit +6, cve +6, gdpr +5, audit +3, auditors +3, penalty +5, fine of +4, lawsuit +7, court +5, contract +3,
contracts +3, notice +3, liability +5, insurance +3, mortgage +4, salary +4, salaries +4, tax +3, invoice +2, refund +2, refunds +2, payment +3, payments +3, customers +2,
all customers +4, every customer +4, all users +4, down +2, unreachable +4, crash +3, crashes +3, crashed +3, corrupt +5, corrupted +5, backup +2, backups +2,
irreversible +7, cannot be +3, hospital +6, surgery +7, pills +5, blood +5, pregnant +7, vaccination +4, prescription +4, injury +5, accident +6, died +7, death +7, funeral +7,
wedding +4, born +5, passport +4, visa +3, exam +3, diagnosis +7, asthma +6, diabetes +7, dangerous +6, poison +7, fire +4, gas +2, root cause +4, incident +4, rollback +3,
forbidden +4, mandatory +4, expires +3, expired +3, expire +3, due +2, encrypted +2, token +1, tokens +1, personal data +5, confidential +5, approval +2, signed +2,
maybe -5, perhaps -5, might -3, possibly -4, probably -2, guess -4, somewhat -3, trivial -6, minor -5, cosmetic -6, not sure -6, fyi -3, weather -4, lunch -3,
dinner -2, breakfast -3, snack -4, film -4, movie -4, concert -3, watched -4, faves -6, favourite -2, snowed -4, rained -4, sunny -4, sunset -5, sunsets -5,
gorgeous -5, lovely -4, inspiring -5, fun -4, funny -5, joke -6, smell -4, emoji -3, sticker -3, bus -1, today -1, yesterday -2, seems -2, apparently -2,
someday -4, eventually -2, idea -2, considering -2, thinking of -3, typo -3, whitespace -5, wording -2, colour -2, color -2, logo -2`

// Types are the types that memories are given.
func Types() []string {
	list := kind.Types()
	return list[:]
}

// firstNames are common first names. They tell whom a text mentions, and seldom what it is about.
const firstNames = `aaron adam adrian ahmed alan albert alex alexander alexandra alice alina amanda amelia amir amy ana andrea andreas
andrew andy angela anita anja ann anna anne annette anton antonio arthur astrid barbara ben benjamin bernd birgit bob boris brian bruno
camille carl carla carlos carol caroline cecilia charles charlie charlotte chen chloe chloé chris christian christina christine christoph
claire clara claudia cora daniel daniela david dana daniel denis diana diego dirk dmitri dominik dora edith eduardo elena eli elias elif
elisa elizabeth ella emil emily emma eric erik eva fatima felix fiona florian francesca frank franz fred frieda gabriel george georg gerd
giulia grace greta gustav hakan hanna hannah hans harry heidi helen helena henry hugo ida igor ines ingrid irene iris isabel isabella ivan
ivo jack jakob james jan jana jane jason javier jean jenny jens jessica joe johan johanna john jonas joseph josh judith julia julian julie
jürgen kai karen karin karl kate katharina katja katrin kenji kevin kim klaus lara lars laura lea leah lena leo leon leonie lia liam lina
linda lisa liz louis louise luca lucas lucia lucy luis luisa lukas maja manuel mara marc marco marcus margaret maria marie marina mario
marion mark marta martha martin martina mary mateo matt matthew max maya mehmet melanie mia michael michelle miguel mila mira mirjam
miriam mohammed monica monika nadia nadja natalie nick nicolas nicole nina noah nora olga oliver olivia omar oscar otto pablo patricia
patrick paul paula pedro peter petra philip pierre priya rachel raj ralf rebecca renate richard rita robert robin roland rosa rosalind
ruth ryan sabine sally sam samira samuel sandra sara sarah sebastian selma simon sofia sonja sophia sophie stefan stefanie stephan steve
susan susanne sven sylvia tanja tara teresa thea theo theresa thomas till tim timo tina tobias tom tomasz tony ulrich ursula uwe valentina
vera verena veronica victor viktor vincent walter wanda werner william wolfgang xavier yara yusuf yuki yvonne zoe`

// vagues are nouns of what many things have: a tag seldom ends with one.
const vagues = `rate rates server servers update updates token tokens lease leases event events cap caps sheet sheets form forms file files page
pages number numbers list lists check checks time times date dates day days week weeks month months night nights year years
evening evenings size sizes count counts level levels change changes user users viewer viewers request requests note notes letter
letters box boxes machine machines cabinet cabinets room rooms wall walls door doors floor floors table tables chair chairs
corner corners drawer drawers envelope envelopes road roads street streets site sites gate gates hall halls boot boots sack sacks
bag bags edge edges line lines row rows field fields group groups set sets unit units part parts side sides system systems word
words paper papers book books notebook notebooks offer offers option options choice choices order orders way ways guy guys man
mans woman womans people peoples person persons firm firms company companies service services copy copies engine engines object
objects record records value values version versions state states status statuses condition conditions use uses step steps limit
limits strength strengths kind kinds colour colours color colors scratch scratches click clicks reply replies pause pauses track
tracks mail mails text texts title titles label labels tag tags key keys host hosts node nodes process processes job jobs run
runs boost boosts pin pins band bands cast casts batch batches hour hours minute minutes meter meters production productions
customer customers client clients office offices city cities country countries lake lakes port ports counter counters hallway
hallways corridor corridors attic attics shelf shelfs spot spots space spaces`
