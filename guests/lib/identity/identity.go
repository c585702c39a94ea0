// Package identity decides as which agent a call acts.
package identity

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Acting is the agent as which a call acts: the caller, or the one that it names. Another one than the caller needs the right act_as.
func Acting(c *alcove.Call, named string) (string, error) {
	switch {
	case named == "" && c.Caller == "":
		return "", alcove.Errorf(alcove.InvalidArgument, "this client has no name: give agentId, or name the client")
	case named == "" || named == c.Caller:
		return c.Caller, nil
	}
	may, err := c.CallerCan(alcove.CallerCanRequest{Action: "act_as"})
	if err == nil && !may.Allowed {
		err = alcove.Errorf(alcove.Denied, "agentId %s is another agent than the caller, %s: that needs the right act_as", named, c.Caller)
	}
	return named, err
}
