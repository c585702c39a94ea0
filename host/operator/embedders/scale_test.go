package embedders

import (
	"math"
	"testing"

	"github.com/alcove-memory/alcove/host/search/semantic"
	"github.com/alcove-memory/alcove/host/search/wordvec"
)

func TestTheScaleOfTheBuiltInVectorsIsTheirs(t *testing.T) {
	got, err := semantic.MeasureScale(t.Context(), semantic.Settings{Name: "builtin", Embedder: builtinTable{wordvec.Open}})
	if err != nil {
		t.Fatal(err)
	}
	if want := builtinScale(); math.Abs(got.Unrelated-want.Unrelated) > .005 || math.Abs(got.Alike-want.Alike) > .005 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
