import { useState } from 'preact/hooks'
import { useLoad } from '../../load'
import { Button, Icon, Loaded, Plain } from '../../parts'
import { visible } from '../../parts/value'
import { to } from '../../route'
import * as text from '../../text'
import type { Selection } from './browse'
import { Marked, Particulars, passage } from './hit'
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

function Explained({ m, at, asked }: { m: Found; at: number; asked: Record<string, unknown> }) {
  const why = useLoad((abort) => explain(asked, at, abort), [m.namespace, m.key, at, JSON.stringify(asked)])
  return <Loaded of={why}>{(hit) => (hit?.why && hit.key === m.key ? <Bars why={hit.why} score={hit.score ?? 0} /> : <p class="quiet">{words.whyMoved}</p>)}</Loaded>
}
