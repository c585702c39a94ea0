import { look } from '../../api'
import { call, written } from '../../call'
import { useLoad } from '../../load'
import { Chip, Empty, Loaded, Moment, Plain } from '../../parts'
import { to } from '../../route'
import { current } from '../../session'
import * as text from '../../text'
import { view } from '../../view'

interface Known {
  agentId: string
  name?: string
  role?: string
  capabilities?: string[]
  lastActive?: string
  lastSeen?: string
}

interface Key {
  id: string
  agent: string
  namespaces?: string[]
  rights?: string[]
  expires?: string
  revoked?: string
}

interface Agent extends Known {
  keys: Key[]
}

/** Who writes here: agents that registered, and holders of keys. */
export function Agents() {
  const agents = useLoad((abort) => everybody(abort), [view.branch.value, written.value])
  return (
    <Loaded of={agents}>
      {(list) =>
        list.length === 0 ? (
          <Empty title={text.sessions.noAgents} hint={text.sessions.howAgents} command="alcove key create --agent NAME --namespaces 'team/*'" />
        ) : (
          <div class="grid">
            {list.map((a) => (
              <Card key={a.agentId} agent={a} />
            ))}
          </div>
        )
      }
    </Loaded>
  )
}

async function everybody(abort: AbortSignal): Promise<Agent[]> {
  const registered = call<{ agents: Known[] }>('memory_list_agents', { limit: 200 }, { signal: abort }).then(
    (r) => r.agents,
    () => [], // the family agents is not there
  )
  const issued = current()?.operator ? look<{ keys: Key[] }>('keys', {}, abort).then((r) => r.keys) : Promise.resolve([])
  const agents = new Map<string, Agent>()
  for (const a of await registered) agents.set(a.agentId, { ...a, keys: [] })
  for (const k of await issued) {
    const a = agents.get(k.agent) ?? { agentId: k.agent, keys: [] }
    a.keys.push(k)
    agents.set(k.agent, a)
  }
  return [...agents.values()].sort((a, b) => (a.agentId < b.agentId ? -1 : 1))
}

function Card({ agent }: { agent: Agent }) {
  const seen = agent.lastActive ?? agent.lastSeen
  return (
    <section class="card" aria-label={agent.agentId}>
      <h2>
        <Plain>{agent.name ?? agent.agentId}</Plain>
      </h2>
      <p class="row quiet">
        {agent.name && agent.name !== agent.agentId && <Plain>{agent.agentId}</Plain>}
        {agent.role && (
          <Chip>
            <Plain>{agent.role}</Plain>
          </Chip>
        )}
        {seen && (
          <span>
            {text.sessions.seen} <Moment at={seen} />
          </span>
        )}
      </p>
      {(agent.capabilities ?? []).map((c) => (
        <Chip key={c}>
          <Plain>{c}</Plain>
        </Chip>
      ))}
      {agent.keys.length > 0 && <h3>{text.sessions.keys}</h3>}
      {agent.keys.map((k) => (
        <p key={k.id} class="row">
          <code>{k.id}</code>
          {k.revoked ? <Chip tone="bad">{text.sessions.revoked}</Chip> : (k.rights ?? []).map((r) => <Chip key={r}>{r}</Chip>)}
          {(k.namespaces ?? []).map((n) => (
            <Chip key={n} tone="good">
              <Plain>{text.operator.keys.namespace(n)}</Plain>
            </Chip>
          ))}
        </p>
      ))}
      <p>
        <a href={to(['memories'], { agent: agent.agentId.replace(/[%,]/g, encodeURIComponent), order: 'updated' })}>{text.sessions.wrote}</a>
      </p>
    </section>
  )
}
