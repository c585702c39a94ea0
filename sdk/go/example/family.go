// Command example is a family that greets people, and remembers whom it greeted.
package main

import (
	"encoding/json"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func greet(c *alcove.Call, arguments alcove.Raw) (alcove.Raw, error) {
	var in struct{ Name string }
	if err := json.Unmarshal(arguments, &in); err != nil || in.Name == "" {
		return nil, alcove.Errorf(alcove.InvalidArgument, "give a name")
	}
	config := struct{ Word string }{"Hello"}
	if err := json.Unmarshal(c.Config, &config); err != nil {
		return nil, err
	}
	if _, err := c.Store("greeted " + in.Name).Tags("greeting").Put(); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]string{"text": config.Word + ", " + in.Name + "!"})
}

func family() *alcove.Family {
	f := alcove.New()
	f.HandleTool("memory_greet", greet)
	return f
}

func init() { alcove.Serve(family()) }

func main() {}
