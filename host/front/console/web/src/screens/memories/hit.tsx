import { Chip, Moment, Plain } from '../../parts'
import { visible } from '../../parts/value'
import * as text from '../../text'
import type { Found } from './query'

const words = text.memories

/** A hit, of which short answers tell a part. */
export type Hit = Partial<Found> & Pick<Found, 'key'>

/** What a list tells of a memory beside its value. */
export function Particulars({ m }: { m: Hit }) {
  return (
    <span class="particulars">
      {m.namespace && (
        <Chip>
          <Plain>{m.namespace}</Plain>
        </Chip>
      )}
      {m.type && (
        <Chip>
          <Plain>{m.type}</Plain>
        </Chip>
      )}
      {m.state && <Chip tone="warn">{m.state}</Chip>}
      {m.superseded_by && <Chip tone="warn">{words.superseded(visible(m.superseded_by))}</Chip>}
      {m.tags?.slice(0, 5).map((t) => (
        <span key={t} class="tag">
          <Plain>{t}</Plain>
        </span>
      ))}
      <span class="quiet">
        {m.agent && (
          <>
            <Plain>{m.agent}</Plain>,{' '}
          </>
        )}
        {m.timestamp && <Moment at={m.timestamp} />}
      </span>
    </span>
  )
}

/** The part of a value that a list shows. */
export function passage(m: Hit): string {
  if (m.value_omitted || m.value === undefined) return m.snippet ?? ''
  const s = typeof m.value === 'string' ? m.value : JSON.stringify(m.value)
  return s.length > 420 ? s.slice(0, 420) + '…' : s
}

/** Text in which the words of a query stand out. */
export function Marked({ q, children }: { q: string; children: string }) {
  const asked = (q.match(/[\p{L}\p{N}]{2,}/gu) ?? []).slice(0, 12)
  const shown = visible(children)
  if (asked.length === 0) return <>{shown}</>
  const pieces = shown.split(new RegExp(`(?<![\\p{L}\\p{N}])((?:${asked.join('|')})[\\p{L}\\p{N}]*)`, 'giu'))
  return <>{pieces.map((p, i) => (i % 2 === 1 ? <mark key={i}>{p}</mark> : p))}</>
}
