package search

import (
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	porter2 "github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

const english = "english"

// language is a stemmer, stop words (those of nearly every text and query) and fillers (words of questions that seldom are
// in their answers).
type language struct {
	name    string
	stem    func(*snowballstem.Env) bool
	stops   string
	fillers string
}

// Languages returns the names of the supported languages; "none" stems nothing and has no stop words.
func Languages() []string {
	var names []string
	for _, l := range languages() {
		names = append(names, l.name)
	}
	return names
}

func languages() []language {
	return []language{
		{"none", nil, "", ""},
		{"arabic", arabic.Stem, "", ""},
		{"danish", danish.Stem, "af alle at blev da de dem den der deres det dig din du efter eller en er et for fra før han har have hendes her hun hvad hvor i ikke ind jeg jo kan man med men mig min mit ned nej nu og også om op os over på sig sin skal som så til ud under var ved vi vil være", ""},
		{"dutch", dutch.Stem, "aan al als bij dan dat de der die dit doch een en er ge geen haar had heb hebben heeft hem het hier hij hoe hun ik in is ja je kan kon maar me meer men met mij mijn na naar niet nog nu of om omdat ook op over te tegen toch toen tot u uit uw van veel voor want waren was wat we wel werd wie wij wil worden zal ze zei zelf zich zij zijn zo zonder zou", ""},
		{english, porter2.Stem, englishStops, englishFillers},
		{"finnish", finnish.Stem, "", ""},
		{"french", french.Stem, "à au aux avec c ce ces cet cette d dans de des du elle elles en est et été être eu il ils j je l la le les leur leurs lui m ma mais me mes moi mon n ne nos notre nous on ont ou où par pas pour qu que qui s sa se ses son sont sur ta te tes toi ton tu un une vos votre vous y", ""},
		{"german", german.Stem, "aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der des die dir doch dort du durch ein eine einem einen einer eines er es euch für haben hat hatte hier ich ihm ihn ihr im in ist ja jede kann kein man mein mich mir mit nach nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so über um und uns unter vom von vor war waren was weil wenn wer werden wie wir wird wo zu zum zur", ""},
		{"hungarian", hungarian.Stem, "", ""},
		{"irish", irish.Stem, "", ""},
		{"italian", italian.Stem, "a ad agli ai al alla alle anche c che chi ci come con cui d da dal dalla dei del della delle di dove e ed era gli ha hanno ho i il in io l la le lei li lo loro lui ma mi mia mio ne nei nel nella noi non o per perché più quale quando quanto quella quello questa questo se sei si sia siamo sono su sua suo sul sulla ti tra tu tua tuo un una uno voi", ""},
		{"norwegian", norwegian.Stem, "alle at av bare ble da de deg dem den der det din du eller en er et etter for fra før han har hun hva hvor i ikke inn jeg kan man med meg men min mitt ned nei nå og også om opp oss over på seg sin skal som så til ut var ved vi vil være", ""},
		{"portuguese", portuguese.Stem, "a ao aos as com como da das de dela dele do dos e ela elas ele eles em entre era essa esse esta este eu foi há isso isto já lhe mais mas me meu minha muito na não nas nem no nos nossa nosso num numa o os ou para pela pelo por qual quando que quem são se sem seu seus só sua também te tem um uma você", ""},
		{"romanian", romanian.Stem, "", ""},
		{"russian", russian.Stem, "а без бы был была были было быть в вам вас во вот все вы где да для до его ее если есть еще же за и из или им их к как ко когда кто ли мне мы на не него нее нет ни но о об он она они от по при с со так там то только ты у уже что чтобы эта эти это я", ""},
		{"spanish", spanish.Stem, "a al algo ante como con cuando de del desde donde e el ella ellas ellos en era es esa ese eso esta este esto fue ha han hay la las le les lo los me mi mis muy más nada ni no nos o os para pero por porque que qué quien se ser si sin sobre son su sus sí también te tu tus un una uno unos y ya yo", ""},
		{"swedish", swedish.Stem, "alla att av blev de dem den denna deras det dig din du där efter eller en er ett för från ha han har hans hon hur här i icke inte jag kan man med men mig min mot ni nu när och om oss på samma sedan sig sin ska som så till under ut var vad vi vid vilka åt är över", ""},
		{"tamil", tamil.Stem, "", ""},
		{"turkish", turkish.Stem, "", ""},
	}
}

const englishStops = `a about above after again against all also am an and any are as at
	be because been before being below between both but by
	can cannot could couldn did didn do does doesn doing don down during
	each else ever every few for from further
	had hadn has hasn have haven having he her here hers herself him himself his how
	i if in into is isn it its itself just let
	may me might more most must my myself no nor not now
	of off on once only or other our ours ourselves out over own
	same shall she should shouldn so some such
	than that the their theirs them themselves then there these they this those through to too
	under until up upon us very was wasn we were weren what when where which while who whom whose why will with won would wouldn
	yet you your yours yourself yourselves`

const englishFillers = `kind type sort name mention describe discuss talk tell say said speak explain express share
	recent recently current currently get got go going went make made take took give gave
	do did done happen happened think thought feel felt want wanted use used
	thing something someone anything people person various particular specific certain main different
	according conversation discussion meeting opinion`
