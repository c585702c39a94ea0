package compare

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// verbKind says what a verb tells about what follows it.
type verbKind uint8

const (
	noVerb  verbKind = iota
	isVerb           // is, costs, lives: what follows holds until it is said otherwise
	hasVerb          // has, needs: several things may, but only one number
	didVerb          // bought, met: it happened, and may happen again
)

// meaning is what is known of a word.
type meaning struct {
	stop, light, negates bool
	verb                 verbKind
	attribute            bool // a thing has one of it: port, owner, color
	chooses              bool // default, favorite: of what follows there is one
	label                bool // the number behind it is a name: build 512
	held                 bool // a verb whose subject there is one of: owns, leads
	repeats              bool // what happens again and again: a deploy, a run
	scope                bool // where or for whom something holds: staging, Linux, Europe
	weekday, language    bool
	noun                 bool // which ends like an adverb
	changed              bool // something became another
	many                 bool // of what follows there may be several: available in
	sole                 bool // a verb that says what there is one of: owns, lives
	past, moment, cause  bool
	axis                 uint16 // of which it is one side, from 1; 0: it has no opposite
	side                 bool
	state                bool // the opposite of a state, not of something that happens
	cues                 cue
}

// lexicon is what is known of words, by their stems, and which are opposites. It is not changed once it is made.
type lexicon struct {
	measures     *measures
	words        map[string]meaning
	axes         uint16
	same         map[string]string // stems of words that mean the same as another
	alike, apart *forest           // which tell what says the same, and what contradicts each other
	directs      map[string]bool   // prepositions that say who does what to whom
}

func newLexicon() *lexicon {
	l := &lexicon{measures: newMeasures(), words: map[string]meaning{}, same: map[string]string{}, directs: map[string]bool{}}
	alike, rest := readTrees(treeData)
	apart, _ := readTrees(rest)
	l.alike, l.apart = forestOf(alike), forestOf(apart)
	l.each(stopWords, func(m *meaning) { m.stop = true })
	l.each(lightWords, func(m *meaning) { m.light = true })
	l.each(negations, func(m *meaning) { m.negates, m.stop = true, true })
	l.each(isVerbs, func(m *meaning) { m.verb = isVerb })
	l.each(hasVerbs, func(m *meaning) { m.verb = hasVerb })
	l.each(didVerbs, func(m *meaning) { m.verb = didVerb })
	l.each(attributes, func(m *meaning) { m.attribute = true })
	l.each(choices, func(m *meaning) { m.chooses = true })
	l.each(labels, func(m *meaning) { m.label = true })
	for group := range strings.SplitSeq(synonyms, ",") {
		list := strings.Fields(group)
		for _, w := range list {
			l.same[words.Stem(w)] = words.Stem(list[0])
		}
	}
	for _, w := range strings.Fields("from to by over than into before after of for through") {
		l.directs[w] = true
	}
	l.each(soleVerbs, func(m *meaning) { m.sole = true })
	l.each("owns own owned leads heads chairs maintains manages runs-the approves", func(m *meaning) { m.held = true })
	l.each("deploy deploys deployment build run attempt retry", func(m *meaning) { m.repeats = true })
	l.each("monday tuesday wednesday thursday friday saturday sunday", func(m *meaning) { m.weekday = true })
	l.each("family reply supply assembly anomaly quarterly monthly weekly hourly butterfly monopoly", func(m *meaning) { m.noun = true })
	l.each(languages, func(m *meaning) { m.language = true })
	l.each(changes, func(m *meaning) { m.changed = true })
	l.each(scopes, func(m *meaning) { m.scope = true })
	l.each("speaks speak available likes depends loves plays knows includes include supports tags tag cause", func(m *meaning) { m.many = true })
	l.each(pastVerbs, func(m *meaning) { m.past = true })
	l.each(moments, func(m *meaning) { m.moment = true })
	l.each(causes, func(m *meaning) { m.cause = true })
	l.each("instead rather", func(m *meaning) { m.negates, m.stop = true, true })
	for i, list := range strings.Split(cueWords, "\n") {
		l.each(list, func(m *meaning) { m.cues |= 1 << i })
	}
	l.oppose(opposingVerbs, false)
	l.oppose(opposingStates, true)
	return l
}

// oppose notes opposites. States contradict each other behind a verb only: an internal service and an external one are two.
func (l *lexicon) oppose(list string, state bool) {
	for line := range strings.SplitSeq(list, "\n") {
		l.axes++
		first, second, _ := strings.Cut(line, "|")
		for i, side := range []string{first, second} {
			l.each(side, func(m *meaning) { m.axis, m.side, m.state = l.axes, i == 0, state })
		}
	}
}

func (l *lexicon) each(list string, change func(m *meaning)) {
	for _, w := range strings.Fields(list) {
		l.set(w, change)
	}
}

// set changes what is known of a word. It is kept under the word as it is: stems of stop words are other words.
func (l *lexicon) set(w string, change func(m *meaning)) {
	m := l.words[w]
	change(&m)
	l.words[w] = m
}

// stem is what a word is compared by.
func (l *lexicon) stem(w string) string {
	stem := words.Stem(w)
	if same, ok := l.same[stem]; ok {
		return same
	}
	return stem
}

// prefixed says whether one of two stems is the other with a prefix that makes it the opposite.
func prefixed(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 4 || !strings.HasSuffix(b, a) {
		return false
	}
	switch b[:len(b)-len(a)] {
	case "un", "in", "im", "dis", "non":
		return true
	}
	return false
}

const stopWords = `is are was were be equal equals a about above across again all along already also although am among an and any anyway are around as at back be
because been being both but by came come comes could did do does doing done down during each either else etc even ever every
for from further get gets getting go goes going gone got had has have having he her here hers herself him himself his how however i
i'd if i'll i'm in into it its it's itself i've just let let's lot lots many may me might mine more most much must my myself of off
on once one onto or other our ours out over own per please quite rather really s same she should so some such than that that's the
their theirs them then there these they they're this those though through to too toward towards under until up upon us very via was
way we we're were we've what when where whether which while who whom whose why will with within would yes yet you your yours you're
actually basically simply well oh ok okay hey hi hello we'll i'll he'll she'll it'll they'll you'll there's here's i've we'd till approximately maximum minimum etc eg ie dr mr mrs ms shall upon besides
der die das und oder aber ein eine einen einem einer ist sind war waren wird hat haben mit von vom zu zum zur auf für im den dem des
sich auch noch nur wenn dann weil dass als wie bei nach aus über unter er sie wir ihr les des une est sont dans pour pas qui que sur
avec plus ce cette el la los las una unos unas es son en con por para del`

// Words that may differ between two texts that say the same.
const lightWords = `record discussed example note notes noted fyi remember remembered reminder recall important importantly please currently now today
presently recently lately generally takes place usually typically mostly always certainly definitely surely maybe perhaps probably likely seem seems
seemed appear appears turns turned think thinks thought know knows known said says say told tell mention mentioned mentions confirm
confirmed confirms according update updated info information fact make makes made keep keeps thing things stuff kind sort bit little
still again soon regarding concerning new various certain particular want wants wanted user users decided team everyone people someone discussed
use uses using used choose chose chosen pick picked select selected adopt adopted`

const negations = `not never no without cannot can't don't doesn't didn't isn't aren't wasn't weren't won't wouldn't shouldn't couldn't
hasn't haven't hadn't neither nor nobody none nothing longer ain't`

const isVerbs = `is are was were be equals costs lives works prefers located belongs moved moves runs starts begins ends closes opens due
scheduled expires born weighs uses using called named owns owned hosted stays resides lies listens retained defaults became becomes`

const hasVerbs = `has have had needs requires contains holds allows supports lasts handles serves keeps retries wants spans employs earns pays`

const didVerbs = `bought met visited went saw finished completed fixed shipped sent received took measured recorded logged reported reached
scored deployed ran released merged opened closed created added removed deleted wrote read watched played ate drank called asked talked
reviewed tested attended joined left returned arrived found lost won paid sold processed handled crashed failed restarted
upgraded installed said told gave made built learned noticed tried started stopped ended spent walked swam cooked painted signed`

const attributes = `port owner color colour name language default theme region timezone zone database framework editor status state
priority role title location address city country capital plan tier mode format protocol branch deadline day date time birthday size
type version limit timeout password email phone number provider host hostname url domain leader lead manager boss maintainer capacity
budget price cost age height weight temperature level rate interval frequency threshold replica replicas wife husband spouse employer
nationality drink food meal dish song movie book sport team model engine vendor currency unit encoding license shell browser font
distance duration length width salary rent target quota ceiling maximum minimum office headquarters birthplace`

const choices = `default favorite favourite primary preferred main current official`

const labels = `build ticket issue pr room invoice order step chapter page phase sprint episode job task test case exercise section figure
table question day week flight bus line track lot batch session run attempt round item row column experiment sample iteration epoch
report part volume season level-id gate platform block unit-id apartment floor id no nr node shard server worker machine container pod`

const soleVerbs = `own owns owned lives live reside resides located hosted called named leads heads chairs born responsible charge maintains
takes doctor dentist landlord vet accountant lawyer tutor coach keynote kick meeting appointment party booking hotel workshop wedding conference offsite venue favorite starts begins ends due scheduled written`

const pastVerbs = `was were had did got went`

// Words that say when something was measured or happened.
const moments = `today yesterday overnight tonight ago last week q1 q2 q3 q4 earlier way`

const languages = `english german french spanish italian portuguese dutch polish turkish japanese chinese korean russian arabic swedish danish norwegian finnish
czech greek hindi`

// Words for what became another than it was.
const changes = `now instead changed moved switched postponed pushed rescheduled raised lowered increased decreased reduced anymore longer nowadays`

// Words for where something holds: who says of two of them two things, contradicts nobody.
const scopes = `dev development staging production prod test testing qa sandbox live local linux windows macos mac android ios eu us europe america asia home
holiday laptop desktop mobile ci weekend weekends weekdays weekday summer winter spring autumn night nights day days reads writes frontend backend`

const causes = `because since after before due as`

// Each group has one meaning; the first stands for all.
const synonyms = `bug defect fault, fix fixed fixes repair repaired resolve resolved, client customer clients customers, car automobile,
glad happy, home house, movie film, photo picture, buy buys purchase purchased bought, quick fast rapid, big large huge, small tiny,
begin begins start starts, finish complete completed finished, mom mother, dad father, kids children kid child,
use uses using utilize utilizes utilise employ, prefer prefers favors favours want wants, retention retain retained retains, interval every, choose chose chosen pick picked select selected,
database db databases dbs, repository repo repos repositories, configuration config settings configs, documentation docs,
color colour, favorite favourite, organization organisation, live lives reside resides living, doctor physician, vacation holiday,
kubernetes k8s, javascript js, typescript ts, postgresql postgres, staging stage, production prod, authentication auth,
application app apps applications, require requires need needs required, delete deleted remove removed deletes removes,
owner own owns owned responsible, ask asked request requested, cancel cancelled canceled scrapped dropped abandoned,
postpone postponed delayed deferred, trash rubbish garbage waste, cellar basement, flat apartment, fridge refrigerator, lift elevator, pupil student,
afraid scared fear fears, ill sick, journey trip, plane aircraft airplane, mail email e-mail mails emails, phone telephone, picture image photo, pay pays paid payment,
error failure, speed velocity, crash crashes crashed, picture pictures image images, job position, salary wage wages, price prices cost costs, shop store, near close,
forbidden prohibited banned, allowed permitted, allow permit, show display, hide conceal, leave depart leaves departs, arrive arrives, stop halt, meeting meetings,
wife husband spouse married, coworker colleague colleagues, supervisor manager boss, teacher instructor, weekly week, monthly month, yearly annual annually year, daily day,
nightly night, hourly hour, quarterly quarter, holiday holidays vacation vacations, freight cargo, train rail railway, bike bicycle, sofa couch, tap faucet,
maximum max limit, minimum min, upload uploads uploaded, encrypt encrypted encryption, compress compressed compression, sign signed signature signatures,
ship delivery deliver delivered shipped, allergic allergy allergies, vaccinate vaccinated vaccination vaccinations vaccine, retire retired retirement pensioner,
medicine drug medication, tablet pill tablets pills, surgery operation, check-up checkup, invoice bill invoices bills, contract agreement, approve approval approves okay,
employee staff worker, firm company business, revenue turnover, deadline due, release rollout, lead leads leader, help assist, issue problem trouble, answer reply`

// Each line has two sides: who says a word of one of them, contradicts who says a word of the other, whoever it is said of.
const opposingVerbs = `enabled activated armed active | disabled deactivated disarmed inactive
enable activate | disable deactivate
like likes enjoy enjoys | dislike dislikes
love loves adore adores | hate hates
allow permit | forbid deny block prohibit
allows permits | forbids denies blocks prohibits
allowed permitted | forbidden denied prohibited banned
accepts | rejects
accept | reject
increases grows | decreases shrinks
increase | decrease
increased grew | decreased shrank
encrypted | unencrypted
approved accepted granted | rejected declined refused
passed passes pass succeeded succeeds succeed successful | failed fails fail unsuccessful
synchronously | asynchronously
increases rises grows | falls
raised | lowered
won wins win | lost loses lose
remembers remember | forgets forget forgot
hired hires | fired fires dismissed
agreed agrees agree | disagreed disagrees disagree
buys | sells
started | stopped
extended renewed | terminated
supports | drops
trusts trust | distrusts distrust
shows show | hides hide
included includes | excludes omits
before | after`

// States contradict each other behind a verb only: an internal service and an external one are two.
const opposingStates = `true | false
public | private
synchronous sync | asynchronous async
hot | cold
required mandatory compulsory | optional nullable
cheap | expensive
quick fast | slow
safe | unsafe
valid | invalid expired
online | offline
stable | unstable
light | dark
possible | impossible
available | unavailable
married | single
deprecated | supported
high | low
open | closed
full | empty
permanent | temporary
internal | external
static | dynamic
vegetarian | carnivore
ascending | descending
correct | wrong
mutable | immutable
morning | evening
success | failure
soft | hard
passable | blocked
writable | readonly
locked | unlocked
noisy loud | quiet silent
crowded busy | deserted
paid | unpaid outstanding
signed | unsigned
broken faulty defective | intact
left left-handed | right right-handed
odd | even
early | late
thick | thin
wet | dry
clean | dirty
strong | weak
heavy | lightweight
wide | narrow
deep | shallow
rich | poor
young | old
full-time | part-time
remote remotely | onsite on-site
manual manually | automatic automatically automated
local locally | remotely
alone | together
vertical | horizontal
upstairs | downstairs
indoors | outdoors
sweet sweetened | unsweetened bitter
alive | dead
present | absent
visible | hidden invisible
included | excluded
inclusive | exclusive
complete | incomplete
legal | illegal
guilty | innocent
healthy | ill sick
awake | asleep
punctual | unpunctual
domestic | foreign
odd-numbered | even-numbered
lower-case lowercase | upper-case uppercase
north | south
east | west
case-sensitive | case-insensitive
open-source | proprietary
encrypted-at-rest | plaintext
positive | negative`
