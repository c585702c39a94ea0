import { MultiDirectedGraph } from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'
import Sigma from 'sigma'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Note } from '../../parts'
import { visible } from '../../parts/value'
import * as text from '../../text'
import { theme } from '../../theme'
import { edgeID, type Graph } from './model'

const perFrame = 10 // ms of a frame for the layout
const turns = { small: 300, large: 120 } // of the layout, for graphs of up to a thousand nodes and beyond
const many = 1000
const longest = 40 // characters of a label
const golden = Math.PI * (3 - Math.sqrt(5))

interface Props {
  graph: Graph
  selected: string
  onSelect: (id: string) => void
  colours: Map<string, string>
}

/** Draws a graph. Nodes stay where they are when others come. */
export function Picture({ graph, selected, onSelect, colours }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const drawn = useRef<{ graph: MultiDirectedGraph; sigma: Sigma }>(undefined)
  const [unable, setUnable] = useState(false)
  const choose = useRef(onSelect)
  choose.current = onSelect

  useEffect(() => {
    const g = new MultiDirectedGraph()
    try {
      const sigma = new Sigma(g, place.current!, { allowInvalidContainer: true, zIndex: true, labelDensity: 0.5, labelRenderedSizeThreshold: 5, defaultEdgeType: 'arrow', defaultDrawNodeHover: () => {} })
      sigma.on('clickNode', ({ node }) => choose.current(node))
      drawn.current = { graph: g, sigma }
    } catch {
      setUnable(true) // without WebGL the list beside it serves
    }
    return () => drawn.current?.sigma.kill()
  }, [])

  useEffect(() => {
    if (!drawn.current) return
    const { graph: g } = drawn.current
    update(g, graph, colours)
    return arrange(g)
  }, [graph, colours])

  useEffect(() => {
    if (!drawn.current) return
    const { graph: g, sigma } = drawn.current
    const near = g.hasNode(selected) ? new Set([selected, ...g.neighbors(selected)]) : undefined
    const [ink, line, main, faint] = ['--ink', '--edge', '--main', '--raised'].map(token)
    sigma.setSettings({
      labelColor: { color: ink! },
      nodeReducer: (id, data) => (!near || near.has(id) ? { ...data, size: Number(data['size']) * (id === selected ? 1.6 : 1), forceLabel: !!near } : { ...data, color: faint!, label: '' }),
      edgeReducer: (id, data) => (selected && g.hasExtremity(id, selected) ? { ...data, color: main!, size: 2, zIndex: 1 } : { ...data, color: line! }),
    })
  }, [graph, selected, theme.value])

  if (unable) return <Note tone="warn">{text.graph.unable}</Note>
  // The list beside it says the same to those who do not see it.
  return <div ref={place} class="graph-picture" aria-hidden="true" />
}

/** A colour of the style sheet. */
function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

function update(g: MultiDirectedGraph, to: Graph, colours: Map<string, string>) {
  const nodes = new Map(to.nodes.map((n) => [n.id, n]))
  const edges = new Map(to.edges.map((e) => [edgeID(e), e]))
  for (const id of g.edges()) if (!edges.has(id)) g.dropEdge(id)
  for (const id of g.nodes()) if (!nodes.has(id)) g.dropNode(id)
  for (const n of to.nodes) {
    const looks = { label: clipped(visible(n.label)), color: colours.get(n.kind) }
    if (g.hasNode(n.id)) g.mergeNodeAttributes(n.id, looks)
    else g.addNode(n.id, { ...looks, ...start(g.order) })
  }
  for (const [id, e] of edges) if (!g.hasEdge(id)) g.addEdgeWithKey(id, e.from, e.to, { size: 1 })
  g.updateEachNodeAttributes((id, a) => ({ ...a, size: 4 + 2 * Math.log2(1 + g.degree(id)) }))
}

/** Where the nth node begins: on a spiral, so that the same graph always has the same picture. */
function start(n: number): { x: number; y: number } {
  const r = Math.sqrt(n + 1)
  return { x: r * Math.cos(n * golden), y: r * Math.sin(n * golden) }
}

const clipped = (s: string) => (s.length > longest ? s.slice(0, longest - 1) + '…' : s)

/** Lets the nodes find their places, a part in each frame. Returns what stops it. */
function arrange(g: MultiDirectedGraph): () => void {
  if (g.order < 2) return () => {}
  const settings = { ...forceAtlas2.inferSettings(g), barnesHutOptimize: g.order > many }
  let left = g.order > many ? turns.large : turns.small
  let frame = requestAnimationFrame(function step() {
    for (const until = performance.now() + perFrame; left > 0 && performance.now() < until; left--) forceAtlas2.assign(g, { iterations: 1, settings })
    if (left > 0) frame = requestAnimationFrame(step)
  })
  return () => cancelAnimationFrame(frame)
}
