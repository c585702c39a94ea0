// Command settings is the guest of the family settings.
package main

import (
	"github.com/alcove-memory/alcove/guests/families/settings"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func init() { alcove.Serve(settings.Family()) }

func main() {}
