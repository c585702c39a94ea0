// Command sessions is the guest of the family sessions.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/sessions"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(sessions.Family()) }

func main() {}
