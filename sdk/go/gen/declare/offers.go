package declare

import (
	"errors"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// addOffers adds the resources and prompts for which a part's tool answers: its directives resource and prompt.
func (p Part) addOffers(m *abi.Manifest, tool string) error {
	title, _ := p.setting("title")
	description, _ := Described(p.Text, p.Name, p.Said)
	for _, d := range p.Said {
		switch d.Name {
		case "resource":
			uri, rest, _ := strings.Cut(d.Rest, " ")
			_, settings, err := Words("resource", rest, nil, []string{"name", "mime", "list", "complete"})
			if err != nil {
				return err
			}
			if !strings.Contains(uri, "://") {
				return errors.New("write //alcove:resource URI, as in //alcove:resource notes://note/{id} mime=text/markdown")
			}
			name := settings["name"]
			if name == "" {
				name = Snake(p.Name)
			}
			m.Resources = append(m.Resources, abi.Resource{URI: uri, Name: name, Title: title, Description: description, MIMEType: settings["mime"], Tool: tool,
				List: settings["list"], Complete: settings["complete"]})
		case "prompt":
			name, rest, _ := strings.Cut(d.Rest, " ")
			_, settings, err := Words("prompt", rest, nil, []string{"complete"})
			if err != nil {
				return err
			}
			if name == "" {
				return errors.New("write //alcove:prompt NAME")
			}
			m.Prompts = append(m.Prompts, abi.Prompt{Name: name, Title: title, Description: description, Tool: tool, Complete: settings["complete"]})
		}
	}
	return nil
}
