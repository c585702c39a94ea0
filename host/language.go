package host

import (
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/search"
)

// searched is how texts are searched that are in such languages: "german", or "german,notes=french".
func searched(languages string) (o search.Options, err error) {
	o.Languages = map[string]string{}
	for _, one := range strings.Split(languages, ",") {
		collection, language, several := strings.Cut(strings.TrimSpace(one), "=")
		if !several {
			collection, language = "", collection
		}
		if _, err := search.NewAnalyser(language); err != nil {
			return o, fmt.Errorf("the language of what is searched: %w", err)
		}
		if several {
			o.Languages[collection] = language
		} else if language != "" {
			o.Language = language
		}
	}
	return o, nil
}
