import { useMemo, useState } from 'preact/hooks'
import { call, written } from '../../call'
import { Failure } from '../../failure'
import { useLoad } from '../../load'
import { Button, Empty, Loaded, Note, Plain } from '../../parts'
import { keep, route, to } from '../../route'
import * as text from '../../text'
import { view } from '../../view'
import { coloursOf, counted, heldAt, joined, without, type Graph } from './model'
import { Nodes } from './nodes'
import { Picture } from './picture'
import { graph, links } from './read'
import { Selected } from './selected'
import './style.css'

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
  const colours = useMemo(() => coloursOf(whole), [whole])
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
          <Selected node={node} graph={shown} onSelect={onSelect} onExpand={selected in expanded ? undefined : () => void expand(selected)} open={(memory) => <a href={to(['memories', ...memory])}>{text.graph.open}</a>} />
        ) : (
          <Nodes graph={shown} onSelect={onSelect} />
        )}
      </div>
    </>
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
