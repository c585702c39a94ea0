import { useEffect, useState } from 'preact/hooks'
import { follow } from '../../api'
import type { Failure } from '../../failure'
import { duration, short } from '../../figures'
import { failed } from '../../load'
import { Empty, Moment, Plain, Problem } from '../../parts'
import * as text from '../../text'

const t = text.families.log
const kept = 500 // lines on the page
const paint = 200 // ms between two changes of the page, however fast lines come

interface Line {
  at: string
  kind: 'line' | 'call' | 'ended' | 'note'
  what?: string
  text?: string
  trace?: string
  op?: string
  sent?: string
  answer?: string
  took_ms?: number
  class?: string
  fuel?: number
}

/** What a family writes to its log, and how its requests end, as it happens. */
export function Log({ name }: { name: string }) {
  const [lines, setLines] = useState<Line[]>([])
  const [calls, setCalls] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    let fresh: Line[] = []
    setLines([])
    setFailure(undefined)
    const timer = setInterval(() => {
      if (fresh.length === 0) return
      const more = fresh.reverse()
      fresh = []
      setLines((was) => [...more, ...was].slice(0, kept))
    }, paint)
    follow<Line>('family-follow', { family: name, lines: 200, calls, follow: true }, (line) => fresh.push(line), abort.signal).catch((e: unknown) => abort.signal.aborted || setFailure(failed(e)))
    return () => {
      clearInterval(timer)
      abort.abort()
    }
  }, [name, calls, turn])
  return (
    <>
      <label class="row">
        <input type="checkbox" checked={calls} onChange={(e) => setCalls(e.currentTarget.checked)} /> {t.calls}
      </label>
      {failure && <Problem failure={failure} again={() => setTurn(turn + 1)} />}
      {lines.some((l) => l.kind !== 'note') ? (
        <ol class="log" aria-label={t.title}>
          {lines.map((l, i) => (
            <Entry key={lines.length - i} line={l} />
          ))}
        </ol>
      ) : (
        !failure && <Empty title={t.none} hint={t.noneHint} />
      )}
    </>
  )
}

function Entry({ line: l }: { line: Line }) {
  const bad = l.kind === 'ended' && l.class !== 'ok'
  const head = l.kind === 'call' ? (l.op ?? '') : l.kind === 'ended' ? `${l.what ?? ''} ${t.ended(l.class ?? '')}` : (l.what ?? '')
  return (
    <li class={bad ? 'failed' : l.kind}>
      <Moment at={l.at} /> <Plain>{head}</Plain> {l.took_ms !== undefined && <span class="quiet">{duration(l.took_ms)}</span>}
      {!!l.fuel && <span class="quiet"> {t.fuel(short(l.fuel))}</span>} {l.text && <Plain>{l.text}</Plain>}
      {(l.trace || l.sent) && (
        <details>
          <summary>{t.more}</summary>
          <pre tabIndex={0}>
            <Plain>{[l.trace, l.sent, l.answer].filter(Boolean).join('\n')}</Plain>
          </pre>
        </details>
      )}
    </li>
  )
}
