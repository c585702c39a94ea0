package memory

import (
	"context"
)

// mostCredited bounds the notes of commits read for the authors of one page of the feed.
const mostCredited = 10_000

// creditCommits fills in the authors of deletions from the notes of commits: a deletion has no author of its own.
func (s *Space) creditCommits(ctx context.Context, notices []Notice) error {
	missing := map[uint64][]int{}
	for i, n := range notices {
		if n.Agent == "" && n.Kind == MemoryForgotten {
			missing[n.Watermark] = append(missing[n.Watermark], i)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	read, first, last := 0, notices[0].Watermark, notices[len(notices)-1].Watermark
	for noted, err := range s.eachNote(ctx, first-1, last+1) {
		if err != nil {
			return s.translate("read the feed", err)
		}
		if read++; read > mostCredited || len(missing) == 0 {
			return nil
		}
		note, _ := decodeNote(noted.Note)
		for _, i := range missing[noted.Version] {
			notices[i].Agent = note.Agent
		}
		delete(missing, noted.Version)
	}
	return nil
}
