package scan

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
)

func samples() []string {
	return []string{
		`{}`, `[]`, ` { "a" : [ 1 , -2.5e3 , "x\n\u00e9\ud83d\ude00" , true , false , null ] , "b" : {"c":"é"} } `, `"plain"`, `0`, `-0.1E+2`, `1e-2`,
		``, `{`, `[1,]`, `{"a"}`, `{"a":1,}`, `{,}`, `[,1]`, `"open`, `"bad \x"`, `01`, `1.`, `.5`, `-`, `1e`, `+1`, `nul`, `tru`, `{} {}`, `[1 2]`, "\"a\nb\"", "\"\xff\"", `1-2`, `"\`,
		`1e999`,
	}
}

func TestItReadsWhatEncodingJSONReads(t *testing.T) {
	for _, sample := range samples() {
		compare(t, []byte(sample))
	}
}

func compare(t *testing.T, data []byte) {
	t.Helper()
	var want any
	wantErr := json.Unmarshal(data, &want)
	s := New(data)
	got := s.Any()
	err := s.End()
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: the error is %v; encoding/json has %v", data, err, wantErr)
	}
	if err == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: %#v, want %#v", data, got, want)
	}
	s = New(data)
	raw := s.Raw()
	if err := s.End(); err == nil != json.Valid(data) || err == nil && !bytes.Equal(raw, bytes.TrimSpace(data)) {
		t.Fatalf("%q: raw %q, %v", data, raw, err)
	}
}

func TestNullHasNoFieldsAndNoElements(t *testing.T) {
	s := New([]byte(`{"a":null,"b":null,"c":[null],"d":null}`))
	fields := 0
	for key := range s.Fields() {
		switch fields++; key {
		case "a":
			for inner := range s.Fields() {
				t.Errorf("null has the field %s", inner)
			}
		case "b":
			for range s.Elements() {
				t.Error("null has an element")
			}
		case "c":
			for range s.Elements() {
				if s.String() != "" || s.Err() != nil {
					t.Error("null is a string that is not empty")
				}
			}
		default:
			if list := s.Strings(); list != nil {
				t.Errorf("null is the list %q", list)
			}
		}
	}
	if err := s.End(); err != nil || fields != 4 {
		t.Errorf("%d fields, %v", fields, err)
	}
}

func TestWholeNumbersAreReadExactlyOrNotAtAll(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "7": 7, "18446744073709551615": math.MaxUint64, "null": 0} {
		s := New([]byte(text))
		if got := s.Uint(); got != want || s.End() != nil {
			t.Errorf("%s is read as %d (%v)", text, got, s.Err())
		}
	}
	for _, text := range []string{"-1", "18446744073709551616", "1.5", "1e3", `"1"`, "true"} {
		s := New([]byte(text))
		if got := s.Uint(); got != 0 && got != math.MaxUint64 || s.Err() == nil {
			t.Errorf("%s is read as %d", text, got)
		}
	}
}

func TestDecimalsAreReadAsStrconvReadsThem(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"0", "-0", "0.0", "-0.35", "999999999999999", "0.00000000000001", "1234567890.12345", "9999999999999999", "0.1e3"}
	for range 100_000 {
		texts = append(texts, strconv.FormatFloat(float64(r.Int64N(1_000_000_000_000)), 'f', -1, 64)+"."+strconv.Itoa(r.IntN(1000)))
	}
	for _, text := range texts {
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := New([]byte(text)).Number(); math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s is read as %v, want %v", text, got, want)
		}
	}
}

func TestDeepNestingIsAnErrorAndNotTheEndOfTheStack(t *testing.T) {
	s := New(bytes.Repeat([]byte("["), 1<<20))
	s.Skip()
	if s.Err() == nil {
		t.Error("there is no error")
	}
}

func FuzzScanner(f *testing.F) {
	for _, sample := range samples() {
		f.Add([]byte(sample))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if depth(data) < maxDepth {
			compare(t, data)
		}
	})
}

func depth(data []byte) int {
	return bytes.Count(data, []byte("[")) + bytes.Count(data, []byte("{"))
}

func FuzzAppendString(f *testing.F) {
	for _, text := range []string{"", "plain", "a\"b\\c\n\t\x00\x1f", "é€😀", "\xff\xfe", "x\xc3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out := AppendString(nil, text)
		var back string
		if err := json.Unmarshal(out, &back); err != nil || back != string([]rune(text)) {
			t.Fatalf("%q became %s, read as %q (%v)", text, out, back, err)
		}
		s := New(out)
		if again := s.String(); again != back || s.End() != nil {
			t.Fatalf("read as %q (%v)", again, s.Err())
		}
	})
}

func TestAnObjectIsWritten(t *testing.T) {
	out := AppendKey([]byte("{"), "a")
	out = AppendStrings(out, []string{"x", "y"})
	out = AppendKey(out, "n")
	out = append(AppendNumber(out, 0.75), '}')
	if string(out) != `{"a":["x","y"],"n":0.75}` {
		t.Errorf("wrote %s, want an object with a list and a number", out)
	}
}
