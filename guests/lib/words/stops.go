package words

import "strings"

// Stops are the words of English that say little about what a text is about.
func Stops() []string { return strings.Fields(stops) }

const stops = `a about above across after again against all almost along already also although am among an and another any
anybody anyone anything are around as ask asked at away back be became because become been before began behind being below
between both but by call called came can cannot can't come could couldn't did didn't do does doesn't doing don't done down
during each either else ended enough even ever every everybody everyone everything far few find first following for found from
further gave get gets getting give given gives go goes going gone good got had hadn't has hasn't have haven't having he he'd he'll
her here here's hers herself he's him himself his how however i i'd if i'll i'm in instead into is isn't it its it's itself
i've just keep kept kind knew know known knows last later least less let let's like likely little long look looked looks lot lots
made make makes making many may maybe me mean means meanwhile might mine more most mostly much must my myself near need needed
needs neither never new next no nobody none nor not nothing now of off often oh ok okay old on once one ones only onto or other
others our ours ourselves out over own part people per perhaps please put quite rather really right said same saw say says second
see seem seemed seems seen set several shall she she'd she'll she's should shouldn't show showed shown side since so some somebody
someone something sometimes soon still such sure take taken takes taking tell than that that's the their theirs them themselves
then there there's therefore these they they'd they'll they're they've thing things think third this those though thought three
through thus till to today together told tomorrow too took toward towards tried true try trying turn turned turns two under until
up upon us use used uses using usually very via want wanted wants was wasn't way ways we we'd we'll well went were we're weren't
we've what what's when where where's whether which while who whole whom who's whose why will with within without won't would
wouldn't yes yesterday yet you you'd you'll your you're yours yourself you've actually also always basically currently finally
instead simply etc eg ie monday tuesday wednesday thursday friday saturday sunday january february march april june july august
september october november december am pm able bit big small best better chose choose decide decided agreed realized realised
learned learnt noticed remember remembered user users day days week weeks month months year years hour hours minute minutes time
times start started starts stop stopped stops happen happened happens work worked works working four five six seven eight nine ten
hundred thousand important critical urgent prefer prefers preferred want loves love likes liked hate hates enjoys enjoy mentioned
asks plan plans planned planning going todo summary recap note notes noted wrong right correct correction mistake failed fails
fail failing broken rule rules avoid insight lesson discussed session switch switched switching because due ran run runs running
whenever everywhere morning evening tonight currently recently always only different number example hey hi hello wow yeah yep yup nope hah haha lol thanks thank gonna
wanna gotta awesome great nice cool super amazing sounds sound appreciate pretty totally absolutely course bye congrats glad sorry
honestly guys guy folks stuff special incredible how've hows whats
der die das und oder aber nicht ein eine einen einem einer eines ist sind war waren wird werden wurde hat haben hatte mit von vom zu
zum zur auf für im den dem des sich auch noch nur wenn dann weil dass als wie bei nach aus über unter ich er sie wir ihr mich dich uns
les des une est sont dans pour pas qui que sur avec plus ce cette ces mais ou où il elle nous vous ils elles leur aux du
el los las una unos unas es son en con por para del que como más pero sus este esta estos`
