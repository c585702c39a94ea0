package planted

import "strings"

// template is a sentence with slots.
type template struct {
	text string
	// value is the slot that can hold one thing only; empty: the sentence contradicts no other by its values.
	value string
	// negation is what to replace to say that it is not so, as from|to; empty: it cannot be said so.
	negation string
	// about is what no two memories may have in common, for they would contradict each other by chance; empty: the
	// sentence without its value.
	about string
}

func templates() []template {
	return []template{
		{"The {system} listens on port {port}.", "port", "", ""},
		{"The {system} of {company} is owned by {person}.", "person", "", "owner of the {system} of {company}"},
		{"The {system} in {city} has {n} replicas.", "n", "", ""},
		{"{person} lives in {city} and works for {company}.", "", "", "home of {person}"},
		{"{person} of {company} lives in {city}.", "city", "", "home of {person}"},
		{"{person} prefers {drink} in the {daytime}.", "", "prefers|does not want", "{person} at {daytime}"},
		{"{person} likes {hobby} and {hobby2} with {first}.", "", "likes|does not like", ""},
		{"{person} is allergic to {food}.", "", "is allergic|is not allergic", ""},
		{"The favorite color of {person} is {color}.", "color", "", ""},
		{"{person} met {person2} in {city} to talk about {topic}.", "", "", ""},
		{"{person} bought {n} {thing}s for the {company} office in {city}.", "", "", ""},
		{"Ticket {code}: the {system} shows {symptom} when {trigger}.", "", "", ""},
		{"The {system} crashed with {symptom} after {trigger}.", "", "", ""},
		{"We fixed {symptom} in the {system} by {remedy}.", "", "", ""},
		{"The deadline of project {code} is {date}.", "date", "", ""},
		{"Project {code} of {company} is led by {person} and concerns {topic}.", "", "", "project {code}"},
		{"The {system} must be {care} before every release of {company}.", "", "must be|must not be", ""},
		{"Feature {code} is enabled for {company} in {city}.", "", "is enabled|is disabled", "feature {code}"},
		{"The {system} at {company} uses {tech} for {topic} because {reason}.", "", "", "{system} of {company} for {topic}"},
		{"The default timeout of the {system} at {company} is {n} seconds.", "n", "", ""},
		{"{person} asked whether the {system} supports {topic}.", "", "", ""},
		{"{person} decided to replace {tech} with {tech2} in the {system}.", "", "", ""},
		{"Never deploy the {system} of {company} when {trigger}.", "", "Never|Always", ""},
		{"On {date} {person} visited {city} and tried {hobby}.", "", "", ""},
		{"{person} plans to learn {topic} with {tech} in {month}.", "", "", ""},
		{"The contract with {company} about {topic} ends on {date}.", "date", "", ""},
		{"{person} recommended the {adjective} {thing} from {company} to {first}.", "", "", ""},
		{"Test run {n} of the {system} took {n2} seconds on {tech}.", "", "", ""},
		{"The backup of the {system} for {company} is stored in {city}.", "city", "is stored|is not stored", ""},
		{"{person}'s birthday is on {date}.", "date", "", ""},
		{"{person} thinks that {topic} is {adjective} because {reason}.", "", "", ""},
		{"During the {month} review {person} praised the {adjective} {system} at {company}.", "", "", ""},
	}
}

// lists are what fills the slots.
func lists() map[string][]string {
	all := map[string]string{
		"first": `Ann Bob Carla David Elena Farid Grace Hugo Irina Jonas Kofi Lena Mateo Nadia Oscar Priya Quentin Rosa Samir Tessa Uma Viktor
Wanda Xavier Yara Zoltan Amir Bianca Chloe Dmitri Esra Felix Greta Hassan Ingrid Jamal Keiko Luca Mira Noah`,
		"last": `Abbott Becker Castro Dubois Eriksen Fischer Garcia Hansen Ivanov Jensen Kowalski Larsen Moreau Novak Okafor Petrov Quinn Rossi Schmidt
Tanaka Ueda Vargas Weber Xu Yilmaz Zhang Andersson Bauer Costa Dimitrov Evans Ferrari Gupta Horvat Ito Johansson Khan Lopez Meyer Nguyen`,
		"area":    `billing search checkout login inventory shipping pricing messaging analytics backup export import payment catalog session audit reporting scheduling mapping translation`,
		"part":    `service database gateway worker dashboard queue cache index pipeline cluster scheduler proxy monitor crawler importer controller`,
		"company": `Acme Globex Initech Umbra Soylent Hooli Vehement Massive Stark Wayne Cyberdyne Tyrell Wonka Oscorp Aperture Nakatomi Duff Gringotts Monarch Zorin`,
		"city": `Berlin Hamburg Lisbon Oslo Prague Vienna Dublin Madrid Rome Athens Warsaw Zurich Bergen Porto Lyon Turin Gdansk Leipzig Bremen Utrecht Ghent
Malmo Tampere Krakow Seville Naples Geneva Basel Aarhus Cork`,
		"drink":     "espresso,green tea,oat milk,ginger beer,black coffee,apple juice,sparkling water,chai,cocoa,lemonade",
		"daytime":   `morning afternoon evening`,
		"hobby":     `climbing chess pottery sailing gardening photography fencing baking origami birdwatching juggling archery calligraphy rowing knitting astronomy`,
		"food":      `peanuts shellfish strawberries walnuts soy sesame mustard celery lupin kiwi wheat oysters`,
		"color":     `red blue green yellow purple orange teal maroon ivory turquoise`,
		"thing":     `chair monitor keyboard lamp headset tablet camera microphone printer notebook backpack projector`,
		"topic":     "rate limiting,data retention,access control,load balancing,vector search,tax reports,user onboarding,schema migrations,event sourcing,image resizing,fraud detection,push notifications,currency conversion,full text search,dark launches,disaster recovery",
		"symptom":   "a memory leak,a deadlock,duplicate rows,stale prices,a broken redirect,missing images,a null pointer,slow queries,corrupted files,lost messages,wrong totals,an endless loop",
		"trigger":   "the disk is full,two users log in at once,the certificate expires,the clock jumps,a node restarts,traffic doubles,the network splits,an upload is cancelled,the cache is cold,a currency is missing",
		"remedy":    "adding an index,rotating the logs,pinning the driver,closing idle connections,retrying with backoff,sorting the keys,validating the input,raising the limit,batching the writes",
		"care":      `restarted drained benchmarked audited encrypted warmed archived documented`,
		"tech":      `Redis Kafka Postgres Rust Python Terraform Grafana Docker Ansible Elixir Scala Nomad Consul Vault Envoy Nginx`,
		"reason":    "the vendor stopped support,it halves the costs,auditors asked for it,nobody could maintain the old one,latency matters there,the license changed,customers complained,it is easier to test",
		"month":     `January February April June July August September October November December`,
		"adjective": `elegant noisy reliable confusing sturdy fragile clever outdated generous compact ambitious tedious`,
	}
	lists := map[string][]string{}
	for name, list := range all {
		if strings.Contains(list, ",") {
			lists[name] = strings.Split(list, ",")
		} else {
			lists[name] = strings.Fields(list)
		}
	}
	return lists
}
