package search

import "testing"

func TestTermsAndKeywordsMakeNoAnalyserEach(t *testing.T) {
	made := testing.AllocsPerRun(10, func() { mustAnalyser(NewAnalyser(english)) })
	for name, analyse := range map[string]func(){
		"Terms": func() { Terms("send an email to my landlord") }, "Keywords": func() { Keywords("send an email to my landlord") },
	} {
		if got := testing.AllocsPerRun(100, analyse); got >= made {
			t.Errorf("%s allocates %.0f times, want fewer than the %.0f of a new analyser", name, got, made)
		}
	}
}
