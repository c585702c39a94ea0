package messages

import (
	"cmp"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// recently is how long ago an agent called that counts as connected, in seconds.
const recently = int(alcove.Hour / alcove.Second)

// reachable returns an error for an agent that may not read a namespace, or that nobody knows there.
func reachable(c *alcove.Call, namespace, agent string) error {
	may, err := c.CallerCan(alcove.CallerCanRequest{Action: "read", Agent: agent, Namespace: namespace})
	if err == nil && !may.Allowed {
		err = alcove.Errorf(alcove.Denied, "agent %s may not read %s, and would not get it", agent, namespace)
	}
	if err != nil {
		return err
	}
	if known, err := knows(c, namespace, agent); err != nil || known {
		return err
	}
	names, err := nearest(c, namespace, agent)
	if err != nil {
		return err
	}
	said := "no agent is known there"
	if len(names) > 0 {
		said = "known there are " + strings.Join(names, ", ")
	}
	return alcove.Errorf(alcove.NotFound, "no agent %s is registered, was heard or is connected in %s: %s", agent, namespace, said)
}

// knows reports whether an agent is known in a namespace. What the host itself notifies of is for agents that another family found.
func knows(c *alcove.Call, namespace, agent string) (bool, error) {
	if c.Caller == "" || agent == c.Caller {
		return true, nil
	}
	here, err := c.SessionList(alcove.SessionListRequest{Agent: agent, Namespace: namespace, RecentS: recently, Limit: 1})
	if err != nil || len(here.Sessions) > 0 {
		return true, err
	}
	members, err := membersOf(c, namespace)
	if err != nil || slices.Contains(members, agent) {
		return err == nil, err
	}
	registered, err := profiles(c, []string{agent})
	if _, known := registered[agent]; known || err != nil {
		return known, err
	}
	spoke, err := speakersOf(c, namespace)
	return slices.Contains(spoke, agent), err
}

// membersOf are the agents of a namespace's scope; none: it is no scope.
func membersOf(c *alcove.Call, namespace string) ([]string, error) {
	found, err := c.ScopeGet(alcove.ScopeGetRequest{Namespace: namespace})
	if alcove.CodeOf(err) == alcove.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return append(found.Scope.Members, found.Scope.Creator), nil
}

// speakersOf are the agents whose messages the room of the call's namespace has.
func speakersOf(c *alcove.Call, namespace string) (names []string, err error) {
	if namespace != c.Namespace {
		return nil, nil
	}
	room, err := open(c, ofRoom)
	if err != nil {
		return nil, err
	}
	h, err := room.read(c, room.Next-min(room.Next-room.First, mostHere), mostHere)
	for i := range h.list {
		if from := h.list[i].Value.From; !slices.Contains(names, from) {
			names = append(names, from)
		}
	}
	return names, err
}

// mostNamed is how many names an error lists.
const mostNamed = 5

// nearest are some agents that are known in a namespace, those with a name like the given one first.
func nearest(c *alcove.Call, namespace, agent string) ([]string, error) {
	list, err := c.SessionList(alcove.SessionListRequest{Namespace: namespace, RecentS: recently, Limit: mostHere})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range list.Sessions {
		names = append(names, s.Agent)
	}
	for _, more := range []func(*alcove.Call, string) ([]string, error){membersOf, speakersOf, registeredIn} {
		found, err := more(c, namespace)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(apart(a, agent), apart(b, agent)), cmp.Compare(a, b))
	})
	names = slices.Compact(names)
	return names[:min(len(names), mostNamed)], nil
}

// apart is how far two names are from each other: none if one is in the other.
func apart(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if strings.Contains(a, b) || strings.Contains(b, a) {
		return 0
	}
	return words.Distance([]rune(a), []rune(b), len(a)+len(b))
}

// registeredIn are agents that are registered in the call's namespace. Without the family agents there are none.
func registeredIn(c *alcove.Call, namespace string) (names []string, err error) {
	if namespace != c.Namespace {
		return nil, nil
	}
	var out profiled
	switch err := c.CallTool("memory_list_agents", wanted{}, &out); alcove.CodeOf(err) {
	case "":
	case alcove.Denied, alcove.NotFound, alcove.Unavailable:
		return nil, nil
	default:
		return nil, err
	}
	for _, p := range out.Agents {
		names = append(names, p.AgentID)
	}
	return names, nil
}
