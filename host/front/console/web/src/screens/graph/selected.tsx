import type { ComponentChildren } from 'preact'
import { call } from '../../call'
import { useLoad } from '../../load'
import { Button, Chip, Loaded, Moment, Plain } from '../../parts'
import * as text from '../../text'
import { view } from '../../view'
import { memoryOf, type Edge, type Graph, type Node } from './model'

interface Entity {
  entity: { name: string; type: string; aliases: string[]; firstSeen: string; lastSeen: string } | null
}

interface Props {
  node: Node
  graph: Graph
  onSelect: (id: string) => void
  /** Adds all links of the node; nothing: they are there. */
  onExpand: (() => void) | undefined
  /** What opens a memory. */
  open: (memory: [namespace: string, key: string]) => ComponentChildren
}

/** What is known of the selected node, and the way on from it. */
export function Selected({ node, graph, onSelect, onExpand, open }: Props) {
  const memory = memoryOf(node)
  const links = graph.edges.filter((e) => e.from === node.id || e.to === node.id)
  return (
    <section class="card" aria-label={text.graph.selected}>
      <h2>
        <Plain>{node.label}</Plain>
      </h2>
      <p>
        <Chip>{text.graph.kind(node.kind)}</Chip>
      </p>
      {memory && <p>{open(memory)}</p>}
      {node.kind === 'entity' && <Known id={node.id} />}
      {onExpand && <Button onClick={onExpand}>{text.graph.expand}</Button>}
      <h3>{text.graph.links(links.length)}</h3>
      <ul class="graph-links">
        {links.map((e) => (
          <LinkTo key={e.from + e.relation + e.to} edge={e} from={node.id} graph={graph} onSelect={onSelect} />
        ))}
      </ul>
    </section>
  )
}

function LinkTo({ edge, from, graph, onSelect }: { edge: Edge; from: string; graph: Graph; onSelect: (id: string) => void }) {
  const out = edge.from === from
  const other = out ? edge.to : edge.from
  const node = graph.nodes.find((n) => n.id === other)
  return (
    <li>
      <span class="quiet">
        <span aria-hidden="true">{out ? '→ ' : '← '}</span>
        <span class="unseen">{out ? text.graph.out : text.graph.in} </span>
        <Plain>{edge.relation}</Plain>
        {edge.validUntil && (
          <>
            {' '}
            {text.graph.until} <Moment at={edge.validUntil} />
          </>
        )}
      </span>{' '}
      <button type="button" class="link" onClick={() => onSelect(other)}>
        <Plain>{node?.label ?? other}</Plain>
      </button>
    </li>
  )
}

function Known({ id }: { id: string }) {
  const known = useLoad((abort) => call<Entity>('memory_get_entity', { id }, { signal: abort }), [id, view.branch.value])
  return (
    <Loaded of={known}>
      {({ entity }) =>
        entity && (
          <p>
            <Chip>
              <Plain>{entity.type}</Plain>
            </Chip>{' '}
            {entity.aliases.map((a) => (
              <Chip key={a}>
                <Plain>{a}</Plain>
              </Chip>
            ))}{' '}
            {text.graph.seen} <Moment at={entity.firstSeen} />
          </p>
        )
      }
    </Loaded>
  )
}
