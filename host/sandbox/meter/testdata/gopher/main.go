// Command gopher has programs in Go to be timed with and without metering. Each takes how much to do and gives a number
// that depends on all that was done.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
)

const text = `{"name":"a memory","tags":["green","tea"],"importance":0.75,"links":[{"to":"k1","weight":12}],"text":"The deploy script needs the staging key."}`

//go:wasmexport gojson
func gojson(n uint32) uint32 {
	total := 0
	for range n {
		var v map[string]any
		if json.Unmarshal([]byte(text), &v) != nil {
			panic(text)
		}
		total += len(v)
	}
	return uint32(total)
}

//go:wasmexport gosort
func gosort(n uint32) uint32 {
	numbers, x := make([]uint32, n), uint32(1)
	for i := range numbers {
		x = x*1664525 + 1013904223
		numbers[i] = x
	}
	slices.Sort(numbers)
	return numbers[n/2]
}

//go:wasmexport gosha
func gosha(n uint32) uint32 {
	sum := sha256.Sum256(nil)
	for range n {
		sum = sha256.Sum256(sum[:])
	}
	return uint32(sum[0]) | uint32(sum[1])<<8
}

func main() {}
