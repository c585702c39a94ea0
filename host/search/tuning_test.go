package search

import (
	"reflect"
	"strings"
	"testing"
)

func TestHowCollectionsScoreIsRead(t *testing.T) {
	got, err := parseBM25(" memory=1.2/0.75, notes=0.9/0.4 ")
	if want := (map[string]Params{"memory": {K1: 1.2, B: .75}, "notes": {K1: .9, B: .4}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("parseBM25 = %v, %v, want %v", got, err, want)
	}
	if got, err := parseBM25(""); err != nil || len(got) != 0 {
		t.Errorf("nothing is %v, %v", got, err)
	}
	for _, wrong := range []string{"memory", "memory=1", "=1/1", "memory=0/0.5", "memory=1/2", "memory=NaN/0.5", "memory=1/x", "memory=11/0.5"} {
		if got, err := parseBM25(wrong); err == nil {
			t.Errorf("%q is read as %v", wrong, got)
		}
	}
}

func TestHowConversationsAreSearchedIsRead(t *testing.T) {
	for text, want := range map[string]Conversation{
		"":                    {},
		"off":                 {Window: -1, Cover: -1, Zone: -1, Question: -1, Speaker: -1, Date: -1},
		"speaker=0.3":         {Speaker: .3},
		"zone=0, date=2":      {Zone: -1, Date: 2},
		"window=1,filler=0.5": {Window: 1, Filler: .5},
		"assistant=0":         {Assistant: -1},
	} {
		if got, err := parseConversations(text); err != nil || got != want {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
	for _, wrong := range []string{"on", "speaker", "speaker=x", "speaker=-1", "speaker=NaN", "mood=1", "date=11", "neighbour=1"} {
		if got, err := parseConversations(wrong); err == nil {
			t.Errorf("%q is read as %v", wrong, got)
		}
	}
}

func TestLanguagesAreNamedByCollection(t *testing.T) {
	o, err := parseLanguages("german, notes=french")
	if err != nil || o.Language != "german" || len(o.Languages) != 1 || o.Languages["notes"] != "french" {
		t.Errorf("parseLanguages = %+v, %v, want german, and french for notes", o, err)
	}
	if o, err := parseLanguages(""); err != nil || o.Language != "" || len(o.Languages) != 0 {
		t.Errorf("parseLanguages of nothing = %+v, %v, want no languages", o, err)
	}
	if _, err := parseLanguages("klingon"); err == nil || !strings.Contains(err.Error(), "swedish") {
		t.Errorf("parseLanguages(klingon): %v, want an error that names the languages", err)
	}
}
