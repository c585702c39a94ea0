package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// talk is what two people say about a subject.
type talk struct {
	asked, answered string // the question of one, and the answer of the other
	question        string // what is asked of the memories later; %s is the name of who answered
}

// spoken is conversations in a language, made up.
type spoken struct {
	language string
	talks    []talk
	chatter  []string
}

func spokenLanguages() []spoken {
	return []spoken{
		{"german", []talk{
			{"Gehst du eigentlich noch schwimmen?", "Ja, dreimal die Woche, immer vor der Arbeit.", "Wie oft geht %s schwimmen?"},
			{"Was macht dein Garten?", "Die Tomaten sind rot, und die Gurken werden endlich größer.", "Was wächst im Garten von %s?"},
			{"Hast du schon eine neue Wohnung gefunden?", "Endlich, drei Zimmer mit Balkon, gleich am Fluss.", "Welche Wohnung hat %s gefunden?"},
			{"Wie war der Urlaub in Portugal?", "Herrlich, wir sind jeden Tag an der Küste gewandert.", "Was hat %s im Urlaub gemacht?"},
			{"Spielst du immer noch Geige im Orchester?", "Nein, seit dem Winter lerne ich lieber Cello.", "Welches Instrument lernt %s statt Geige?"},
			{"Und was liest du gerade?", "Einen dicken Roman über eine Familie in Triest.", "Was liest %s?"},
			{"Wer passt auf euren Hund auf?", "Meine Schwester nimmt ihn mit aufs Land.", "Wer kümmert sich um den Hund von %s?"},
			{"Gibt es etwas Neues?", "Mein Bruder hat in Bremen eine Bäckerei eröffnet.", "In welcher Stadt hat der Bruder von %s eine Bäckerei eröffnet?"},
			{"Wie war dein Wochenende?", "Am Samstag haben wir das alte Boot blau gestrichen.", "In welcher Farbe hat %s das Boot gestrichen?"},
			{"Du siehst müde aus.", "Der Nachbar übt bis Mitternacht Trompete.", "Wer übt bei %s bis Mitternacht Trompete?"},
			{"Fährst du mit dem Zug zur Hochzeit?", "Lieber mit dem Fahrrad, es sind nur zwölf Kilometer.", "Womit fährt %s zur Hochzeit?"},
		}, []string{"Das freut mich wirklich.", "Erzähl mir mehr davon.", "Heute regnet es schon wieder.", "Wir sehen uns am Freitag.", "Ich muss gleich los.", "Bis bald und schöne Grüße."}},
		{"spanish", []talk{
			{"¿Todavía vas a nadar?", "Sí, tres veces por semana, antes del trabajo.", "¿Con qué frecuencia va a nadar %s?"},
			{"¿Cómo está tu huerto?", "Los tomates están rojos y los pepinos crecen por fin.", "¿Qué crece en el huerto de %s?"},
			{"¿Ya encontraste un piso nuevo?", "Por fin, tres habitaciones con balcón, junto al río.", "¿Qué piso encontró %s?"},
			{"¿Qué tal las vacaciones en Portugal?", "Maravillosas, caminamos cada día por la costa.", "¿Qué hizo %s en las vacaciones?"},
			{"¿Sigues tocando el violín en la orquesta?", "No, desde el invierno prefiero aprender el chelo.", "¿Qué instrumento aprende %s en vez del violín?"},
			{"¿Y qué lees ahora?", "Una novela larga sobre una familia de Trieste.", "¿Qué lee %s ahora?"},
			{"¿Quién cuida de vuestro perro?", "Mi hermana se lo lleva al campo.", "¿Quién se ocupa del perro de %s?"},
			{"¿Hay algo nuevo?", "Mi hermano abrió una panadería en Bilbao.", "¿En qué ciudad abrió el hermano de %s una panadería?"},
			{"¿Qué tal el fin de semana?", "El sábado pintamos de azul el barco viejo.", "¿De qué color pintó %s el barco viejo?"},
			{"Pareces cansada.", "El vecino ensaya con la trompeta hasta medianoche.", "¿Quién ensaya con la trompeta hasta medianoche en casa de %s?"},
			{"¿Vas a la boda en tren?", "Mejor en bicicleta, son solo doce kilómetros.", "¿Cómo va %s a la boda?"},
		}, []string{"Me alegro mucho.", "Cuéntame más.", "Hoy llueve otra vez.", "Nos vemos el viernes.", "Tengo que irme pronto.", "Hasta pronto y saludos."}},
	}
}

// people are who talks: each with the next, about everything.
var people = []string{"Lena", "Oskar", "Mirjam", "Paulo", "Ines", "Theo", "Carla", "Bruno", "Vera", "Anton", "Nuria", "Emil"}

// index indexes the conversations, and returns the questions with the keys of the turns that answer them.
func (s spoken) index(of Conversation) (x *Index, answers map[string]string) {
	x, answers = New(Options{Language: s.language, Conversation: of}), map[string]string{}
	version := uint64(0)
	say := func(session string, seq int, who, text string) string {
		version++
		key := fmt.Sprintf("%s/%d", session, seq)
		x.Apply(Doc{Branch: 1, Version: version, Key: key, Text: []string{who, text}, State: Active, Turn: &Turn{Session: session, Position: int64(seq), Speaker: who}})
		return key
	}
	for i, who := range people {
		other := people[(i+1)%len(people)]
		for n, one := range s.talks {
			session := fmt.Sprintf("%s-%d", strings.ToLower(who), n)
			for seq := range 3 {
				say(session, seq, []string{who, other}[seq%2], s.chatter[(i+n+seq)%len(s.chatter)])
			}
			say(session, 3, other, one.asked)
			answers[fmt.Sprintf(one.question, who)] = say(session, 4, who, one.answered)
			for seq := 5; seq < 8; seq++ {
				say(session, seq, []string{who, other}[seq%2], s.chatter[(i+n+seq)%len(s.chatter)])
			}
		}
	}
	return x, answers
}

// recalls are the shares of the questions whose answer is the first hit, and among the first five and ten.
func (s spoken) recalls(t *testing.T, of Conversation) (shares [3]float64) {
	t.Helper()
	x, answers := s.index(of)
	for question, answer := range answers {
		r, err := x.Search(t.Context(), View{Lineage: trunk}, Query{Text: question, K: 10})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(r.Hits, func(h Hit) bool { return h.Key == answer })
		for i, first := range []int{1, 5, 10} {
			if at >= 0 && at < first {
				shares[i] += 1 / float64(len(answers))
			}
		}
	}
	return shares
}

// The features of turns were weighed on English conversations, and the words that ask are known for English alone.
func TestTurnsInOtherLanguagesAreFoundNoWorseThanLikeOtherMemories(t *testing.T) {
	off := Conversation{Window: -1, Cover: -1, Zone: -1, Question: -1, Speaker: -1, Date: -1}
	for _, s := range spokenLanguages() {
		before, now := s.recalls(t, off), s.recalls(t, Conversation{})
		t.Logf("%s, recall@1, @5 and @10: %.3f like other memories, %.3f as turns", s.language, before, now)
		for i := range now {
			if now[i] < before[i] {
				t.Errorf("%s: %.3f as turns, %.3f like other memories", s.language, now, before)
			}
		}
		if before[2] == 0 || now[2] < 0.9 {
			t.Errorf("%s: recall@10 is %.3f, and %.3f like other memories", s.language, now[2], before[2])
		}
	}
}
