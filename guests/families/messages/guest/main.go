// Command messages is the guest of the family messages.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/messages"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(messages.Family()) }

func main() {}
