// Package sites serves the family sites: websites that an operator connected, what is remembered about each, and temporary agents that work on them.
//
// An operator sets a site up with alcove site add; its URL and its secret are no tool's to see. memory_site_connect then publishes a tool
// SLUG.CATEGORY.ACTION for each action of the site, and SLUG.memory.store, recall, forget and update. A tool stays as it was when it was
// connected: what the site adds or changes is pending until memory_site_refresh accepts it, which needs the right site.admin. Memories
// are in the namespace site/SLUG/ora, those of a temporary agent in site/SLUG/task-N. Who may write a namespace may call the site from it.
//
//alcove:family sites 1.0.0
//alcove:description Call connected websites, remember each, delegate tasks to temporary agents.
//alcove:keywords site, sites, website, websites, web, api, connect, connected, disconnect, remote, online, shop, call a site, delegate, delegated, spawn, worker, helper, temporary agent, short-lived, subtask, research, writer, analyst, job
//alcove:example which web services can I use?
//alcove:example connect to our shop's API as a tool
//alcove:example call an action of the web shop
//alcove:example is the website up and in sync?
//alcove:example refresh the actions that a site offers
//alcove:example disconnect a web service
//alcove:example start a helper agent for a small task and get its result
//alcove:example spawn a researcher that lives for one job
//alcove:example the temporary agent is done, take its result
//alcove:example hand a subtask to a specialist worker
//alcove:example remember something about a website
//alcove:example export the tool definitions for another framework
//alcove:example which tools does the booking site publish?
//alcove:example hook up the booking website so that I can use it
//alcove:example link the store's website and its functions
//alcove:example what can I do on that website?
//alcove:example use the search function of the connected shop
//alcove:example look whether the web shop is reachable
//alcove:example is the site's tool list current?
//alcove:example cut the connection to the website
//alcove:example launch a short-lived assistant for the research
//alcove:example have a sub-agent do the translation and report back
//alcove:example give part of the work to a throwaway agent
//alcove:example finish off the helper and collect what it found
//alcove:example tool definitions in the format of OpenAI
//alcove:example which sites are linked?
//alcove:example keep what I learned about this website
//alcove:example use the booking site's actions
//alcove:example order something through the connected shop
//alcove:example look up a product in the store that is linked
//alcove:example call the invoice action of our accounting site
//alcove:example invoke the weather service that was hooked up
//alcove:example ask the CRM site for the customer list
//alcove:example what actions does the ticket portal have?
//alcove:example which external services are plugged in?
//alcove:example list the websites I can work with
//alcove:example is the shop online and answering?
//alcove:example when did the site last sync, and did it fail?
//alcove:example health of the connection to the forum
//alcove:example any errors from the helpdesk site?
//alcove:example synchronise what the site and I know of each other
//alcove:example exchange memories with the travel site
//alcove:example pull the memories that the website holds for me
//alcove:example push what I learned about the shop to the shop
//alcove:example connect the warehouse portal
//alcove:example enable the site anwe.example so its functions show up as tools
//alcove:example activate a web service that the admin has set up
//alcove:example plug in the museum's website
//alcove:example remove the integration with the forum
//alcove:example take the site's tools away
//alcove:example unlink the web shop but keep its memories
//alcove:example the site changed its API, look what is new
//alcove:example accept the new actions of the site
//alcove:example which actions were added or removed on the portal?
//alcove:example update the tool list of the site
//alcove:example reload the site's schema
//alcove:example start a sub-agent to compare prices on the shop
//alcove:example let a helper write the product texts for the site
//alcove:example delegate the market study to a short-lived analyst
//alcove:example spin off a researcher with its own memory that goes away after an hour
//alcove:example outsource this bit to a temporary worker
//alcove:example I need an extra pair of hands for this small job
//alcove:example spawn a writer for the blog
//alcove:example create a disposable agent
//alcove:example is the helper finished?
//alcove:example collect the findings of the analyst and let it go
//alcove:example the sub-agent has done its job, end it
//alcove:example close the delegated task and keep the important memories
//alcove:example dismiss the temp
//alcove:example the worker failed, clean up after it
//alcove:example which helpers are running for this site?
//alcove:example farm out the tedious part
//alcove:example hire a specialist for an hour
//alcove:example remember that this site wants dates as DD.MM.YYYY
//alcove:example what do I know about the booking website?
//alcove:example store a preference for this web shop
//alcove:example facts that belong to one site only
//alcove:example forget what I noted about the forum site
//alcove:example give me the tools as JSON for the Anthropic API
//alcove:example convert our tool list to OpenAI function calling
//alcove:example I need function schemas for another agent framework
//alcove:example export tools for LangChain
//alcove:example tool specs for use outside
//alcove:example book through the travel portal that we connected
//alcove:example send the form via the site's submit action
//alcove:example cart and checkout functions of the store's site
//alcove:example let me act on that website
//alcove:example the portal's login action fails, what is its state?
//alcove:example integrate a third-party website
//alcove:example talk to the site's API for me
//alcove:example run the search action of the library website
//alcove:license Apache-2.0
//alcove:needs http site/* to call the sites that the operator named
//alcove:needs tools.publish to offer a tool for each action of a site
//alcove:needs memory.read site/* to recall what is remembered about a site
//alcove:needs memory.write site/* to remember it
//alcove:needs memory.count site/* to count recalls, which keep memories healthy
//alcove:needs namespace.delete site/* to delete what ended tasks left, after its backup
//alcove:needs identity.delegate site/* to give a temporary agent a key for its own namespace
//alcove:needs record site,site_schema,site_sync,task to keep the state of sites, their pinned tools, and tasks
//alcove:needs job to exchange memories, and to end tasks that expired
//alcove:needs feed.emit site/* to announce what happened
//alcove:needs feed.kind site_connected,site_disconnected,site_schema_changed,site_synced,agent_spawned,agent_completed,agent_expired to announce it by these names
//alcove:limits memory_pages=1024 wall_ms=300000 cpu_ms=60000 fuel=120000000000 host_calls=20000
package sites

import alcove "github.com/alcove-memory/alcove/sdk/go"

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	SyncMinutes          int     `alcove:"key=site_sync_minutes,shared,category=sites,min=1,max=1440,default=15"`     // Minutes between exchanges of memories with a site
	TimeoutMS            int     `alcove:"key=site_timeout_ms,shared,category=sites,min=100,max=90000,default=30000"` // How long a site may take to answer, in milliseconds
	HealthGain           float64 `alcove:"key=health_gain,shared,category=sites,min=0,max=1,default=0.05"`            // What a recall adds to the health score of a memory about a site
	HealthDecay          float64 `alcove:"key=health_decay,shared,category=sites,min=0,max=1,default=0.01"`           // What the score loses a day without a recall
	HealthGraceDays      float64 `alcove:"key=health_grace_days,shared,category=sites,min=0,max=3650,default=7"`      // Days without a recall before it loses anything
	HealthMin            float64 `alcove:"key=health_min,shared,category=sites,min=0,max=1,default=0.3"`              // Memories are recalled above this score
	ExtractMinImportance float64 `alcove:"key=extract_min_importance,shared,category=sites,min=0,max=1,default=0.7"`  // Memories of an ended task that are kept are at least as important
	ExtractMinHealth     float64 `alcove:"key=extract_min_health,shared,category=sites,min=0,max=1,default=0.5"`      // Or facts that were recalled and have this score
	BackupDays           int     `alcove:"key=backup_days,shared,category=sites,min=0,max=90,default=7"`              // Days after which the memories of an ended task are deleted
	SpawnMax             int     `alcove:"key=spawn_max,shared,category=sites,min=1,max=50,default=20"`               // Temporary agents that a site has at once
}

// Family is sites.
func Family() *alcove.Family {
	f := alcove.New(
		SiteList{}, SiteStatus{}, SiteSync{}, SiteConnect{}, SiteDisconnect{}, SiteRefresh{}, AgentSpawn{}, AgentComplete{}, ExportTools{},
		SyncDue{}, EndTasks{},
	)
	f.HandlePublished(published)
	return f
}
