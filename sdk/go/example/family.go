// Command example is a family that greets people, and remembers whom it greeted.
//
//alcove:family example 0.1.0
//alcove:description Greets people, and remembers whom it greeted
//alcove:license Apache-2.0
//alcove:needs memory.write * to remember whom it greeted
package main

import alcove "github.com/alcove-memory/alcove/sdk/go"

//go:generate go run github.com/alcove-memory/alcove/sdk/go/familygen -write

type Config struct {
	Word string `alcove:"default=Hello"` // The word before the name
}

// Greet greets somebody.
//
//alcove:tool memory_greet
type Greet struct {
	Name string `alcove:"required,min=1"` // whom
}

type Greeting struct{ Text string }

func (in Greet) Call(c *alcove.Call, cfg Config) (Greeting, error) {
	_, err := c.Store("greeted " + in.Name).Tags("greeting").Put()
	return Greeting{cfg.Word + ", " + in.Name + "!"}, err
}

func family() *alcove.Family { return alcove.New(Greet{}) }

func init() { alcove.Serve(family()) }

func main() {}
