import { useMemo } from 'preact/hooks'
import { visible } from '../parts/value'
import type { Graph } from '../screens/graph/model'
import * as text from '../text'

const width = 640
const height = 420
const margin = 26
const rounds = 160
const longest = 22 // characters of a label
const labelled = 60 // nodes, beyond which only the selected one and its neighbours have labels

interface Point {
  x: number
  y: number
}

interface Props {
  graph: Graph
  colours: Map<string, string>
  selected: string
  onSelect: (id: string) => void
}

/** A graph of a few hundred nodes as a drawing. The list beside it says the same to those who do not see it or have no pointer. */
export function Drawing({ graph, colours, selected, onSelect }: Props) {
  const places = useMemo(() => laidOut(graph), [graph])
  const near = useMemo(() => new Set(graph.edges.flatMap((e) => (e.from === selected ? [e.to] : e.to === selected ? [e.from] : []))), [graph, selected])
  return (
    <svg class="graph-drawing" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={text.graph.size(graph.nodes.length, graph.edges.length)}>
      {graph.edges.map((e, i) => {
        const a = places.get(e.from)
        const b = places.get(e.to)
        return a && b && <line key={i} class={e.from === selected || e.to === selected ? 'near' : ''} x1={a.x} y1={a.y} x2={b.x} y2={b.y} />
      })}
      {graph.nodes.map((n) => {
        const p = places.get(n.id)!
        const involved = n.id === selected || near.has(n.id)
        const name = visible(n.label.slice(0, longest)) + (n.label.length > longest ? '…' : '')
        return (
          <g key={n.id} class={`node ${n.id === selected ? 'chosen' : ''} ${selected && !involved ? 'far' : ''}`} transform={`translate(${p.x} ${p.y})`} onClick={() => onSelect(n.id)}>
            <circle r={n.id === selected ? 9 : 6} fill={colours.get(n.kind)} />
            {(involved || graph.nodes.length <= labelled) && <text y={-10}>{name}</text>}
          </g>
        )
      })}
    </svg>
  )
}

/** Places nodes so that links are short and others keep apart. The same graph is always drawn alike. */
function laidOut(g: Graph): Map<string, Point> {
  const n = g.nodes.length
  const at = g.nodes.map((_, i): Point => ({ x: Math.sqrt(i + 0.5) * Math.cos(i * 2.4), y: Math.sqrt(i + 0.5) * Math.sin(i * 2.4) }))
  const number = new Map(g.nodes.map((node, i) => [node.id, i]))
  const pairs = g.edges.map((e) => [number.get(e.from), number.get(e.to)]).filter((p): p is [number, number] => p[0] !== undefined && p[1] !== undefined && p[0] !== p[1])
  for (let round = 0; round < rounds; round++) {
    const step = 0.6 * (1 - round / rounds)
    const force = at.map((): Point => ({ x: 0, y: 0 }))
    const push = (i: number, j: number, by: (distance: number) => number) => {
      const dx = at[i]!.x - at[j]!.x
      const dy = at[i]!.y - at[j]!.y
      const d = Math.max(Math.hypot(dx, dy), 0.01)
      const f = by(d) / d
      force[i]!.x += dx * f
      force[i]!.y += dy * f
      force[j]!.x -= dx * f
      force[j]!.y -= dy * f
    }
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) push(i, j, (d) => 1 / d)
    for (const [i, j] of pairs) push(i, j, (d) => -d * d * 0.3)
    for (let i = 0; i < n; i++) {
      const p = at[i]!
      const f = force[i]!
      const size = Math.max(Math.hypot(f.x, f.y), 0.01)
      p.x += (f.x / size) * Math.min(size, step) - p.x * 0.02 // a light pull keeps parts without links in sight
      p.y += (f.y / size) * Math.min(size, step) - p.y * 0.02
    }
  }
  return new Map(g.nodes.map((node, i) => [node.id, fitted(at[i]!, at)]))
}

/** A point in the drawing, which has room for all of them. */
function fitted(p: Point, all: Point[]): Point {
  const scale = (v: number, of: number[], size: number) => {
    const low = Math.min(...of)
    const span = Math.max(...of) - low
    return span < 0.01 ? size / 2 : margin + ((v - low) / span) * (size - 2 * margin)
  }
  return { x: scale(p.x, all.map((q) => q.x), width), y: scale(p.y, all.map((q) => q.y), height) }
}
