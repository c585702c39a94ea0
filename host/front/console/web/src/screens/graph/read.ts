import { call } from '../../call'
import { joined, type Edge, type Graph, type Node } from './model'

export const most = 2000 // nodes or links that are drawn
const walked = 3 // links from the first node, where not all can be drawn

interface Term {
  valid_from?: string
  valid_until?: string
}

/** What memory_graph_query answers: each node but the first with the link by which it was reached. */
export interface Walked {
  nodes: (Node & Term & { from?: string; relation?: string })[]
}

/** What memory_get_links answers. */
export interface Links {
  links: (Term & { source_id: string; target_id: string; relation: string })[]
}

/** The graph of a walk, without the node that it began from. */
export function walkedGraph(nodes: Walked['nodes']): Graph {
  return { nodes, edges: nodes.flatMap((n): Edge[] => (n.from ? [{ from: n.from, to: n.id, relation: n.relation ?? '', ...ends(n) }] : [])) }
}

export function edgesOf(links: Links['links']): Edge[] {
  return links.map((l) => ({ from: l.source_id, to: l.target_id, relation: l.relation, ...ends(l) }))
}

/** All of the graph, or what a walk from a node reaches. */
export async function graph(from: string, abort: AbortSignal): Promise<Graph> {
  if (!from) return call<Graph>('memory_export_graph', { format: 'json', includeContent: false, limit: most }, { signal: abort })
  const found = await call<Walked>(
    'memory_graph_query',
    { source_id: from, max_depth: walked, valid_at: 'any', limit: most },
    { signal: abort },
  )
  return joined(walkedGraph(found.nodes), await links(from, abort))
}

/** The links of a node in both directions. Of the nodes at their other ends it knows the ids alone. */
export async function links(id: string, abort?: AbortSignal): Promise<Graph> {
  const options = abort ? { signal: abort } : {}
  const [found, { entity }] = await Promise.all([
    call<Links>('memory_get_links', { id }, options),
    call<{ entity: { entityId: string; name: string } | null }>('memory_get_entity', { id }, options),
  ])
  const edges = edgesOf(found.links)
  const others = new Set(edges.flatMap((e) => [e.from, e.to]).filter((other) => other !== id))
  const itself = entity?.entityId === id ? { id, kind: 'entity', label: entity.name } : { id, kind: 'memory', label: bare(id) }
  return { nodes: [itself, ...[...others].map((id) => ({ id, kind: 'other', label: bare(id) }))], edges }
}

/** An id without its namespace. */
export const bare = (id: string) => id.slice(id.indexOf('#') + 1)

const ends = (l: Term) => ({ ...(l.valid_from && { validFrom: l.valid_from }), ...(l.valid_until && { validUntil: l.valid_until }) })
