import { call, written } from '../../call'
import { useLoad } from '../../load'
import { usePages } from '../../pages'
import { Button, Chip, Empty, Loaded, Moment, Plain } from '../../parts'
import { to } from '../../route'
import * as text from '../../text'
import { view } from '../../view'
import { places } from './places'

/** A moment that an agent saved, to go on from. */
export interface Checkpoint {
  checkpointId: string
  agentId: string
  name?: string
  summary?: string
  topic?: string
  version: number
  branch: string
  at: string
  factCount: number
  unclean?: boolean
  facts?: { key: string; version: number }[]
  namespace: string
}

interface Page {
  checkpoints: Checkpoint[]
  /** Where each namespace goes on, as JSON. */
  next?: string
}

const t = text.sessions

/** The checkpoints of all agents, the newest first. */
export function Checkpoints() {
  const first = useLoad(async (abort) => list(Object.fromEntries((await places(abort)).map((n) => [n, ''])), abort), [view.branch.value, view.namespace.value, written.value])
  return <Loaded of={first}>{(page) => (page.checkpoints.length === 0 ? <Empty title={t.noCheckpoints} hint={t.howCheckpoints} command={t.checkpointCommand} /> : <List first={page} />)}</Loaded>
}

/** Reads a page of each namespace. */
async function list(after: Record<string, string>, abort?: AbortSignal): Promise<Page> {
  const next: Record<string, string> = {}
  const found = await Promise.all(
    Object.entries(after).map(async ([namespace, cursor]) => {
      const page = await call<{ checkpoints: Checkpoint[]; next?: string }>('memory_list_checkpoints', { ...(cursor && { after: cursor }) }, { namespace, ...(abort && { signal: abort }) })
      if (page.next) next[namespace] = page.next
      return page.checkpoints.map((c) => ({ ...c, namespace }))
    }),
  )
  return { checkpoints: found.flat().sort((a, b) => b.at.localeCompare(a.at)), ...(Object.keys(next).length > 0 && { next: JSON.stringify(next) }) }
}

function List({ first }: { first: Page }) {
  const { pages, more } = usePages(first, (after) => list(JSON.parse(after) as Record<string, string>))
  return (
    <>
      <ul class="list sessions-list">
        {pages
          .flatMap((p) => p.checkpoints)
          .map((c) => (
            <li key={c.namespace + c.checkpointId}>
              <a href={to(['sessions', 'checkpoints', c.namespace, keyOf(c)])}>
                <Plain>{titleOf(c)}</Plain>
              </a>
              <Line of={c} />
            </li>
          ))}
      </ul>
      {more && <Button onClick={() => void more()}>{t.olderCheckpoints}</Button>}
    </>
  )
}

export function Line({ of: c }: { of: Checkpoint }) {
  return (
    <p class="row quiet">
      {c.agentId && (
        <span>
          {t.by} <Plain>{c.agentId}</Plain>
        </span>
      )}
      <Moment at={c.at} />
      <Chip>
        <Plain>{c.namespace}</Plain>
      </Chip>
      {c.branch !== 'default' && (
        <Chip>
          <Plain>{c.branch}</Plain>
        </Chip>
      )}
      <span>{t.facts(c.factCount)}</span>
      {c.unclean && (
        <Chip tone="warn">
          <span title={t.uncleanHint}>{t.unclean}</span>
        </Chip>
      )}
    </p>
  )
}

/** The key of a checkpoint, whose id is NAMESPACE#KEY, or the key alone where the namespace is that of the call. */
export const keyOf = (c: Checkpoint) => c.checkpointId.slice(c.checkpointId.indexOf('#') + 1)

export const titleOf = (c: Checkpoint) => c.name || c.summary || c.topic || keyOf(c)
