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
