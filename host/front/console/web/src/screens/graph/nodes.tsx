import { useMemo } from 'preact/hooks'
import { Plain } from '../../parts'
import * as text from '../../text'
import { counted, type Graph } from './model'

const listed = 100 // nodes of the list

/** The nodes that most links have, as a list. */
export function Nodes({ graph: g, onSelect }: { graph: Graph; onSelect: (id: string) => void }) {
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
