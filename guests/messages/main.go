// Command messages is the guest of the family messages.
package main

import (
	"github.com/alcove-memory/alcove/guests/messages/room"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(room.Family()) }

func main() {}
