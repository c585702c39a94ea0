import { useState } from 'preact/hooks'
import { useLoad } from '../../load'
import { Button, Chip, Icon, Loaded, Moment, Plain } from '../../parts'
import { visible } from '../../parts/value'
import { to } from '../../route'
import { text } from '../../text'
import type { Selection } from './browse'
import type { Found } from './query'
import { explain } from './search'
import { Bars } from './why'

const words = text.memories

/** A hit of the list. */
export function Row({ m, at, asked, chosen }: { m: Found; at: number; asked: Record<string, unknown>; chosen?: Selection }) {
  const [open, setOpen] = useState(false)
  return (
    <li class={chosen?.has(m) ? 'chosen' : ''}>
      {chosen && (
        <input
          type="checkbox"
          aria-label={words.choose(visible(m.key))}
          checked={chosen.has(m)}
          onClick={(e) => chosen.toggle(at, e.shiftKey)}
        />
      )}
      <div class="hit-body">
        <div class="row hit-head">
          <a class="hit" href={to(['memories', m.namespace, m.key])}>
            <Plain>{m.key}</Plain>
          </a>
          {m.metadata?.['pinned'] === true && (
            <span title={words.pinned}>
              <Icon name="pin" />
              <span class="unseen">{words.pinned}</span>
            </span>
          )}
          <Particulars m={m} />
          {m.score !== undefined && (
            <Button class="small ask-why" aria-expanded={open} onClick={() => setOpen(!open)}>
              {words.why}
            </Button>
          )}
        </div>
        <p class="passage" dir="auto">
          <Marked q={String(asked['query'] ?? '')}>{passage(m)}</Marked>
        </p>
        {open && <Explained m={m} at={at} asked={asked} />}
      </div>
    </li>
  )
}

/** What a list tells of a memory beside its value. */
function Particulars({ m }: { m: Found }) {
  return (
    <span class="particulars">
      <Chip>
        <Plain>{m.namespace}</Plain>
      </Chip>
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
        <Moment at={m.timestamp} />
      </span>
    </span>
  )
}

/** The part of a value that a list shows. */
function passage(m: Found): string {
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

function Explained({ m, at, asked }: { m: Found; at: number; asked: Record<string, unknown> }) {
  const why = useLoad((abort) => explain(asked, at, abort), [m.namespace, m.key, at, JSON.stringify(asked)])
  return <Loaded of={why}>{(hit) => (hit?.why && hit.key === m.key ? <Bars why={hit.why} score={hit.score ?? 0} /> : <p class="quiet">{words.whyMoved}</p>)}</Loaded>
}
