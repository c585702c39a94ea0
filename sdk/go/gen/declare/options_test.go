package declare

import "testing"

func TestNamesHaveTheFormsOfJSON(t *testing.T) {
	for name, want := range map[string][2]string{
		"FactID": {"fact_id", "factId"}, "FactIDs": {"fact_ids", "factIds"}, "IDs": {"ids", "ids"}, "IDsOfAll": {"ids_of_all", "idsOfAll"}, "HTTPServer": {"http_server", "httpServer"},
		"Limit": {"limit", "limit"}, "MaxURLs": {"max_urls", "maxUrls"}, "TimeGapS": {"time_gap_s", "timeGapS"}, "IsSet": {"is_set", "isSet"},
	} {
		if s, c := Snake(name), Camel(name); s != want[0] || c != want[1] {
			t.Errorf("%s is %s and %s; want %s and %s", name, s, c, want[0], want[1])
		}
	}
}
