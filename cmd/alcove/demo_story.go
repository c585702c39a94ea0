package main

// demoMemory is what a team would tell its agent.
type demoMemory struct{ key, value string }

func demoMemories() []demoMemory {
	return []demoMemory{
		{"deploy/day", "We deploy on Tuesdays, never on a Friday afternoon"},
		{"deploy/owner", "Grace approves each release before it goes out"},
		{"shop/database", "Orders are kept in PostgreSQL; MySQL was rejected for its locking"},
		{"shop/outage", "The checkout was down for forty minutes in March because a certificate had expired"},
		{"shop/limit", "A customer may send a hundred requests a minute, then gets status 429"},
		{"team/newcomers", "New colleagues get a laptop and read access on their first day"},
		{"ada/editor", "Ada writes everything in Vim and dislikes the mouse"},
	}
}

func demoQuestions() []demoQuestion {
	return []demoQuestion{
		{Query: "when do we ship?", Want: "deploy/day"},
		{Query: "who has to sign off a launch?", Want: "deploy/owner"},
		{Query: "why did the payment page break?", Want: "shop/outage"},
		{Query: "is there a quota for calls?", Want: "shop/limit"},
		{Query: "what does a beginner receive?", Want: "team/newcomers"},
	}
}
