// Command events is the guest of the family events.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/events"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(events.Family()) }

func main() {}
