/** A node: a memory, an entity or a theme; other, if only its id is known. The id is NAMESPACE#KEY. */
export interface Node {
  id: string
  kind: string
  label: string
}

export interface Edge {
  from: string
  to: string
  relation: string
  validFrom?: string
  validUntil?: string
}

export interface Graph {
  nodes: Node[]
  edges: Edge[]
}

/** The part of a graph that held at a moment in ms: links that had begun and not ended. */
export function heldAt(g: Graph, moment: number): Graph {
  const held = (e: Edge) => (!e.validFrom || Date.parse(e.validFrom) <= moment) && (!e.validUntil || Date.parse(e.validUntil) > moment)
  return { nodes: g.nodes, edges: g.edges.filter(held) }
}

/** Two graphs as one. Where both have a node, that of the first stays. */
export function joined(a: Graph, b: Graph): Graph {
  const nodes = new Map([...b.nodes, ...a.nodes].map((n) => [n.id, n]))
  const edges = new Map([...a.edges, ...b.edges].map((e) => [edgeID(e), e]))
  return { nodes: [...nodes.values()], edges: [...edges.values()].filter((e) => nodes.has(e.from) && nodes.has(e.to)) }
}

export const edgeID = (e: Edge) => `${e.from}\n${e.relation}\n${e.to}\n${e.validFrom ?? ''}`

/** The part that some kinds of nodes and relations leave. */
export function without(g: Graph, kinds: Set<string>, relations: Set<string>): Graph {
  const nodes = g.nodes.filter((n) => !kinds.has(n.kind))
  const left = new Set(nodes.map((n) => n.id))
  return { nodes, edges: g.edges.filter((e) => !relations.has(e.relation) && left.has(e.from) && left.has(e.to)) }
}

/** What something occurs as, the most frequent first. */
export function counted(names: string[]): [name: string, times: number][] {
  const times = new Map<string, number>()
  for (const n of names) times.set(n, (times.get(n) ?? 0) + 1)
  return [...times].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
}

/** The namespace and key in the id of a memory. */
export function memoryOf(n: Node): [namespace: string, key: string] | undefined {
  const at = n.id.indexOf('#')
  return n.kind === 'memory' && at > 0 ? [n.id.slice(0, at), n.id.slice(at + 1)] : undefined
}

// For memories and themes; further kinds take the next ones. They differ from both backgrounds.
const palette = ['#5b74d6', '#2f9e69', '#c2792b', '#b0559e', '#2c93ad', '#8a7f2e']

/** The colours of the kinds of nodes. */
export function coloursOf(g: Graph): Map<string, string> {
  return new Map(counted(g.nodes.map((n) => n.kind)).map(([kind], i) => [kind, palette[i % palette.length]!]))
}
