package kind

// group is a set of words that mean alike for the type of a text; 0: the word is in none.
type group uint8

// groupLists are the words of each group. A word is looked up as it is, then without its ending.
func groupLists() [16]string {
	return [...]string{
		// what went wrong
		`fail fails failed failing failure failures crash crashes crashed panic panics panicked broke broken breaks leak leaks leaked hang hangs hung
		freeze freezes froze stuck timeout timed died dies dead lost loses garbled corrupt corrupted unreachable refuse refuses refused reject rejects
		rejected denied denies abort aborted aborts bounce bounces bounced blocked expired missing jammed flooded tripped exception traceback segfault
		oomkilled killed undefined unhandled fatal err error errors bug outage offline exhausted overflow deadlock mismatch malformed invalid unable
		damaged cancelled flat chokes choked throws threw hiccup unavailable deleted overwritten wiped duplicate twice accidentally forgot unexpected
		flaky red smoke stalls stalled rejecting failing crashing leaking complaining complains smashed cracked ripped stolen drips locked misrouted`,
		// when, later
		`tomorrow upcoming soon later gonna roadmap todo milestone deadline kickoff rollout go-live phase next will shall intend intends aim aims
		hope hopes target plan plans planned planning scheduled schedule afterwards eventually someday goal i'll we'll iteration quarter q1 q2 q3 q4
		autumn spring summer winter weekend i'd`,
		// what was said before
		`earlier previous previously noted wrote said told recorded claimed claim note notes entry statement memory record wiki mistake mistaken wrong
		incorrect outdated correction erratum corrected corrects misread misremembered misheard swapped confused typo revised update updating actually
		contrary ignore scrap scratch disregard forget meant amendment amended retract stale untrue false inaccurate obsolete mixed misquoted
		mislabelled misspelled spelled spelt clarified pointed`,
		// why
		`because since hence due reason cause caused causes explains explained why therefore origin driven drives depends depend correlates correlate
		triggers trigger dominated bottleneck underlying means suggests leads whenever coincide coincides cluster clusters amplify amplifies limits
		pattern turns apparently stems accounts responsible explanation thanks relies hinges root so`,
		// what a session did
		`session today recap summary summarize meeting wrapped conversation call chat workshop retro standup handover log run day afternoon morning
		evening tonight hours reviewed discussed went covered worked finished completed spent progress status minutes overview pair paired brainstormed
		so-far done`,
		// lessons
		`learned learnt learning lesson lessons hindsight takeaway takeaways til realised realized discovered retrospect retrospective paid pays bitten
		burned burnt taught teaches teach experience worth cheaper saved saves saving postmortem economy useless beats trick afterwards wasted regret
		upfront mistake helped`,
		// decisions
		`decided decide decision decisions chose chosen choose agreed agree adopt adopted approved approve opted opt picked pick selected select settled
		settle rejected drop dropped dropping switch switched switching moved move moves raised lowered increased reduced keep keeping kept stay stays
		staying replace replaced standardise standardised standardize ruled voted vote adr signed final instead rather favour accept accepted abandoned
		deprecated deprecate discontinue postponed cancelled booked bought set capped limited removed going sticking variant version prefer compromise
		retire retired sunset migrate migrated ship ships granted extended`,
		// rules
		`always never must mustn't avoid ensure prefer prefers only every each rule policy convention guideline please forbidden allowed mandatory
		required whenever don't should treat use keep ask sure remember except unless may respect stick`,
		// negation
		`no not without never none nothing zero n't isn't wasn't doesn't don't won't didn't can't cannot`,
		// first person
		`i we my our me us i'm we're i've we've i'd`,
		// "you"
		`you your yours`,
		// time words of the past
		`yesterday ago last overnight since`,
		// people
		`user users customer customers team client clients agent assistant`,
		// comparison
		`than more less better worse faster slower cheaper fewer most least twice times`,
		// unfinished
		`open remaining outstanding left pending unfinished half untouched missing started`,
		// modal
		`must should shall may can could would might need needs have has`,
	}
}

const functionWords = `a an the and or but if when while as at by for from in into of off on onto out over to up with within without before after until till
once because since so than that this these those it its he she they them his her their there here is are was were be been being am has have had do does did
will would shall should can could may might must not no never always only also still again just even all each every any some more most less least very too
i we you my our your me us who which what where why how it's i'm we're i'll we'll don't won't doesn't didn't isn't can't cannot let's instead rather about
between during per through against under yet then now both one two first next last nobody everybody everyone nothing please whenever contrary turns`

const baseVerbs = `add address agree aim allow answer apply archive arrange ask attach avoid back begin block book bring build buy call cancel change check choose clean
close collect commit compare confirm consider contact convert copy create cut decide define delete deploy describe disable discuss document draft drop
edit enable ensure enter escape evaluate expect explain export extend file fill find finish fix follow format freeze generate get give go group handle
help hide hire ignore implement import include increase insert install introduce investigate invite join keep label launch lead learn leave let limit link
list log look lower make mark measure meet mention merge migrate mock mount move name note notify offer open order organise paint park pass pay pick place
plan plant post prefer prepare present prevent print propose protect prove publish pull push put quote raise read rebase rebuild record reduce refactor
refer register reject release remember remind remove rename renew repair repeat replace reply report request require reserve reset respect respond restart
restore return reuse review revert rewrite rotate round run save say schedule scrap sell send separate set share ship show sign skip sort speak specify split
squash start state stay stick stop store study submit suggest summarise summarize switch tag take talk target teach tell test throw tidy track translate
treat trust try turn update upgrade upload use validate verify visit wait warn wash watch water work wrap write`

const pastVerbs = `ate beat became began bit bitten blew bought broke brought built came caught chose cost cut did drew drove fell felt found flew forgot froze gave
got grew had held heard hid hit kept knew laid led left lent let lost made meant met paid put ran rang read rode rose said sat saw sent set shot showed
shrank slept sold spent spoke spun stood stole struck stuck swept swam took taught told thought threw went woke won wore wrote written done gone taken chosen
broken sent lost written drawn driven known shown grown thrown seen begun rebuilt rewrote rewritten bent withdrew sewn torn swung overran overwrote misread split shut burnt learnt`
