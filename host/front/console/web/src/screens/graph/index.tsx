import { useMemo, useState } from 'preact/hooks'
import { call, written } from '../../api'
import { Failure } from '../../failure'
import { useLoad } from '../../load'
import { Button, Empty, Loaded, Note, Plain } from '../../parts'
import { keep, route } from '../../route'
import { text } from '../../text'
import { view } from '../../view'
import { counted, heldAt, joined, without, type Edge, type Graph, type Node } from './model'
import { Picture } from './picture'
import { Selected } from './selected'
import './style.css'

const most = 2000 // nodes or links that are drawn
const walked = 3 // links from the first node, where not all can be drawn

// For memories and themes; further kinds take the next ones. They differ from both backgrounds.
const palette = ['#5b74d6', '#2f9e69', '#c2792b', '#b0559e', '#2c93ad', '#8a7f2e']

export function Screen() {
  const { query } = route.value
  const from = query.get('from') ?? ''
  const selected = query.get('node') ?? ''
  const read = useLoad((abort) => graph(from, abort), [from, view.branch.value, written.value])
  return (
    <>
      <h1>{text.nav.graph}</h1>
      <Search from={from} onFound={(id) => keep({ from: id, node: id })} />
      <Loaded of={read}>
        {(g) =>
          g.nodes.length === 0 ? (
            <Empty title={text.graph.none} hint={text.graph.how} command={text.graph.command} />
          ) : (
            <Drawn key={from} all={g} selected={selected} onSelect={(id) => keep({ from, node: id })} />
          )
        }
      </Loaded>
    </>
  )
}

/** All of the graph, or what a walk from a node reaches. */
async function graph(from: string, abort: AbortSignal): Promise<Graph> {
  if (!from) return call<Graph>('memory_export_graph', { format: 'json', includeContent: false, limit: most }, { signal: abort })
  const found = await call<{ nodes: (Node & { from?: string; relation?: string; valid_from?: string; valid_until?: string })[] }>(
    'memory_graph_query',
    { source_id: from, max_depth: walked, valid_at: 'any', limit: most },
    { signal: abort },
  )
  const edges = found.nodes.flatMap((n): Edge[] => (n.from ? [{ from: n.from, to: n.id, relation: n.relation ?? '', ...ends(n) }] : []))
  const first = await links(from, abort)
  return joined({ nodes: found.nodes, edges }, first)
}

interface Links {
  links: { source_id: string; target_id: string; relation: string; valid_from?: string; valid_until?: string }[]
}

/** The links of a node in both directions. Of the nodes at their other ends it knows the ids alone. */
async function links(id: string, abort?: AbortSignal): Promise<Graph> {
  const options = abort ? { signal: abort } : {}
  const [found, { entity }] = await Promise.all([
    call<Links>('memory_get_links', { id }, options),
    call<{ entity: { entityId: string; name: string } | null }>('memory_get_entity', { id }, options),
  ])
  const edges = found.links.map((l): Edge => ({ from: l.source_id, to: l.target_id, relation: l.relation, ...ends(l) }))
  const others = new Set(edges.flatMap((e) => [e.from, e.to]).filter((other) => other !== id))
  const itself = entity?.entityId === id ? { id, kind: 'entity', label: entity.name } : { id, kind: 'memory', label: bare(id) }
  return { nodes: [itself, ...[...others].map((id) => ({ id, kind: 'other', label: bare(id) }))], edges }
}

/** An id without its namespace. */
const bare = (id: string) => id.slice(id.indexOf('#') + 1)

const ends = (l: { valid_from?: string; valid_until?: string }) => ({ ...(l.valid_from && { validFrom: l.valid_from }), ...(l.valid_until && { validUntil: l.valid_until }) })

function Drawn({ all, selected, onSelect }: { all: Graph; selected: string; onSelect: (id: string) => void }) {
  const [expanded, setExpanded] = useState<Record<string, Graph>>({})
  const [hidden, setHidden] = useState<{ kinds: Set<string>; relations: Set<string> }>({ kinds: new Set(), relations: new Set() })
  const whole = useMemo(() => Object.values(expanded).reduce(joined, all), [all, expanded])
  const moment = Date.parse(view.moment.value)
  const shown = useMemo(() => {
    const held = Number.isNaN(moment) ? whole : heldAt(whole, moment)
    return without(held, hidden.kinds, hidden.relations)
  }, [whole, hidden, moment])
  const kinds = useMemo(() => counted(whole.nodes.map((n) => n.kind)), [whole])
  const colours = useMemo(() => new Map(kinds.map(([k], i) => [k, palette[i % palette.length]!])), [kinds])
  const node = shown.nodes.find((n) => n.id === selected)
  const expand = async (id: string) => setExpanded({ ...expanded, [id]: await links(id) })
  return (
    <>
      <div class="row graph-filters">
        {kinds.map(([kind, n]) => (
          <Toggle key={kind} name={text.graph.kind(kind)} n={n} colour={colours.get(kind)!} on={!hidden.kinds.has(kind)} onToggle={() => setHidden({ ...hidden, kinds: toggled(hidden.kinds, kind) })} />
        ))}
        {counted(whole.edges.map((e) => e.relation)).slice(0, 12).map(([relation, n]) => (
          <Toggle key={relation} name={relation} n={n} on={!hidden.relations.has(relation)} onToggle={() => setHidden({ ...hidden, relations: toggled(hidden.relations, relation) })} />
        ))}
      </div>
      {Number.isNaN(moment) && view.moment.value && <Note tone="warn">{text.graph.versions}</Note>}
      <div class="graph-screen">
        <Picture graph={shown} selected={selected} onSelect={onSelect} colours={colours} />
        {node ? (
          <Selected node={node} graph={shown} onSelect={onSelect} expanded={selected in expanded} onExpand={() => void expand(selected)} />
        ) : (
          <Nodes nodes={shown} onSelect={onSelect} />
        )}
      </div>
    </>
  )
}

const listed = 100 // nodes of the list

/** The nodes that most links have, as a list. */
function Nodes({ nodes: g, onSelect }: { nodes: Graph; onSelect: (id: string) => void }) {
  const degrees = useMemo(() => new Map(counted(g.edges.flatMap((e) => [e.from, e.to]))), [g])
  const sorted = useMemo(() => [...g.nodes].sort((a, b) => (degrees.get(b.id) ?? 0) - (degrees.get(a.id) ?? 0)).slice(0, listed), [g, degrees])
  return (
    <section class="card" aria-label={text.graph.nodes}>
      <h2>{text.graph.size(g.nodes.length, g.edges.length)}</h2>
      <ul class="graph-links">
        {sorted.map((n) => (
          <li key={n.id}>
            <button type="button" class="link" onClick={() => onSelect(n.id)}>
              <Plain>{n.label}</Plain>
            </button>{' '}
            <span class="quiet">{text.graph.links(degrees.get(n.id) ?? 0)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Toggle({ name, n, colour, on, onToggle }: { name: string; n: number; colour?: string; on: boolean; onToggle: () => void }) {
  return (
    <label class="graph-toggle">
      <input type="checkbox" checked={on} onChange={onToggle} />
      {colour && <span class="graph-dot" style={{ background: colour }} />}
      <Plain>{name}</Plain> <span class="quiet">{n}</span>
    </label>
  )
}

function toggled(set: Set<string>, name: string): Set<string> {
  const other = new Set(set)
  if (!other.delete(name)) other.add(name)
  return other
}

/** Finds an entity or memory to begin from. */
function Search({ from, onFound }: { from: string; onFound: (id: string) => void }) {
  const [wanted, setWanted] = useState(from)
  const [failure, setFailure] = useState<string>()
  const go = async (e: Event) => {
    e.preventDefault()
    setFailure(undefined)
    if (!wanted.trim()) return onFound('')
    try {
      const { entities } = await call<{ entities: { entityId: string }[] }>('memory_search_entities', { query: wanted.trim(), limit: 1 })
      if (entities[0]) return onFound(entities[0].entityId)
      setFailure(text.graph.notFound(wanted.trim()))
    } catch (e) {
      setFailure(e instanceof Failure ? e.message : String(e))
    }
  }
  return (
    <form class="row graph-search" onSubmit={(e) => void go(e)}>
      <input type="search" aria-label={text.graph.find} placeholder={text.graph.find} value={wanted} onInput={(e) => setWanted(e.currentTarget.value)} />
      <Button type="submit" icon="search">
        {text.graph.go}
      </Button>
      {from && <Button onClick={() => (setWanted(''), onFound(''))}>{text.graph.all}</Button>}
      {failure && <Note tone="warn">{failure}</Note>}
    </form>
  )
}
