import { useMemo, useState } from 'preact/hooks'
import { failed } from '../load'
import { Empty, Note, tell } from '../parts'
import { coloursOf, counted, joined, type Graph } from '../screens/graph/model'
import { Nodes } from '../screens/graph/nodes'
import { bare, edgesOf, links, walkedGraph, type Links, type Walked } from '../screens/graph/read'
import { Selected } from '../screens/graph/selected'
import '../screens/graph/style.css'
import type { Place } from '../screens/memories/memory'
import * as text from '../text'
import { Drawing } from './drawing'
import { callable } from './host'
import { Opened } from './memory'
import { start } from './start'

const most = 200 // nodes that are drawn

/** The graph that a tool answered; undefined: an export in another format. */
function graphOf(answer: Record<string, unknown>): Graph | undefined {
  if (Array.isArray(answer['edges'])) return answer as unknown as Graph
  if (Array.isArray(answer['links'])) return withEnds({ nodes: [], edges: edgesOf((answer as unknown as Links).links) })
  if (Array.isArray(answer['nodes'])) return withEnds(walkedGraph((answer as unknown as Walked).nodes))
  return undefined
}

/** A graph with the nodes of which only its links tell. */
function withEnds(g: Graph): Graph {
  const known = new Set(g.nodes.map((n) => n.id))
  const others = new Set(g.edges.flatMap((e) => [e.from, e.to]).filter((id) => !known.has(id)))
  return { ...g, nodes: [...g.nodes, ...[...others].map((id) => ({ id, kind: 'other', label: bare(id) }))] }
}

/** The part with the nodes that most links have. */
function largest(g: Graph): Graph {
  if (g.nodes.length <= most) return g
  const degrees = new Map(counted(g.edges.flatMap((e) => [e.from, e.to])))
  const nodes = [...g.nodes].sort((a, b) => (degrees.get(b.id) ?? 0) - (degrees.get(a.id) ?? 0)).slice(0, most)
  const left = new Set(nodes.map((n) => n.id))
  return { nodes, edges: g.edges.filter((e) => left.has(e.from) && left.has(e.to)) }
}

function Linked({ of }: { of: Graph }) {
  const [expanded, setExpanded] = useState<Record<string, Graph>>({})
  const [selected, select] = useState('')
  const [open, setOpen] = useState<Place>()
  const whole = useMemo(() => Object.values(expanded).reduce(joined, of), [of, expanded])
  const shown = useMemo(() => largest(whole), [whole])
  const colours = useMemo(() => coloursOf(whole), [whole])
  if (open) return <Opened place={open} back={text.views.back} onBack={() => setOpen(undefined)} />
  if (whole.nodes.length === 0) return <Empty title={text.graph.none} hint={text.graph.how} />
  const node = shown.nodes.find((n) => n.id === selected)
  const expand = (id: string) => links(id).then((more) => setExpanded({ ...expanded, [id]: more }), (e: unknown) => tell(failed(e).message, { bad: true }))
  return (
    <>
      {whole.nodes.length > most && <Note>{text.views.most(most, whole.nodes.length)}</Note>}
      <div class="graph-screen">
        <Drawing graph={shown} colours={colours} selected={selected} onSelect={select} />
        {node ? (
          <Selected
            key={node.id}
            node={node}
            graph={shown}
            onSelect={select}
            onExpand={callable.value && !(node.id in expanded) ? () => void expand(node.id) : undefined}
            open={([namespace, key]) =>
              callable.value && (
                <button type="button" class="link" onClick={() => setOpen({ namespace, key })}>
                  {text.graph.open}
                </button>
              )
            }
          />
        ) : (
          <Nodes graph={shown} onSelect={select} />
        )}
      </div>
    </>
  )
}

start('graph', (answer) => {
  const g = graphOf(answer)
  return g && <Linked of={g} />
})
