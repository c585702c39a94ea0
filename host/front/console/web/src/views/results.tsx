import { useState } from 'preact/hooks'
import { call } from '../call'
import { failed } from '../load'
import { Button, Chip, Empty, Moment, Note, Plain, tell, Value } from '../parts'
import { Marked, Particulars, passage, type Hit } from '../screens/memories/hit'
import type { Place } from '../screens/memories/memory'
import * as text from '../text'
import { callable } from './host'
import { Opened } from './memory'
import { start } from './start'

const words = text.memories

/** A hit as memory_search answers it. In short it has the time to the minute. */
type Result = Hit & { updated?: string }

interface Event {
  event: string
  sequence?: number
  data?: unknown
  timestamp?: string
}

interface Answer {
  results: (Result | Event)[]
  total?: number
  note?: string
}

const isEvent = (r: Result | Event): r is Event => !('key' in r)
const mostAtOnce = 50

/** What a search found. A hit opens here, and further ones are asked for. */
function Results({ answer, asked }: { answer: Answer; asked: Record<string, unknown> }) {
  const [more, setMore] = useState<{ of: Answer; results: Answer['results']; total: number | undefined }>()
  const [open, setOpen] = useState<Place>()
  const { results, total } = more?.of === answer ? more : { results: answer.results, total: answer.total }
  const at = typeof asked['as_of'] === 'string' ? asked['as_of'] : ''
  if (open) return <Opened place={open} at={at} back={words.back} onBack={() => setOpen(undefined)} />
  const next = async () => {
    try {
      const page = await call<Answer>('memory_search', { ...asked, k: mostAtOnce, offset: results.length })
      setMore({ of: answer, results: [...results, ...page.results], total: page.total })
    } catch (e) {
      tell(failed(e).message, { bad: true })
    }
  }
  if (results.length === 0) return <Empty title={words.nothing} hint={answer.note ?? words.nothingHint} />
  const left = (total ?? 0) - results.length
  return (
    <>
      <ul class="list hits" aria-label={words.results}>
        {results.map((r, i) => (
          <li key={i}>{isEvent(r) ? <Happened e={r} /> : <Row m={r} q={String(asked['query'] ?? '')} onOpen={() => setOpen({ key: r.key, namespace: r.namespace ?? namespaceOf(asked) })} />}</li>
        ))}
      </ul>
      {answer.note && <Note>{answer.note}</Note>}
      {left > 0 && callable.value && (
        <p class="below">
          <Button onClick={() => void next()}>{words.others(left)}</Button>
        </p>
      )}
    </>
  )
}

/** The namespace of hits that do not name theirs. */
function namespaceOf(asked: Record<string, unknown>): string {
  const n = asked['namespace']
  return typeof n === 'string' && !n.includes('*') ? n : ''
}

function Row({ m, q, onOpen }: { m: Result; q: string; onOpen: () => void }) {
  return (
    <div class="hit-body">
      <div class="row hit-head">
        {callable.value ? (
          <button type="button" class="link hit" onClick={onOpen}>
            <Plain>{m.key}</Plain>
          </button>
        ) : (
          <strong class="hit">
            <Plain>{m.key}</Plain>
          </strong>
        )}
        <Particulars m={m.updated ? { ...m, timestamp: m.updated.replace(' ', 'T') + 'Z' } : m} />
      </div>
      <p class="passage" dir="auto">
        <Marked q={q}>{passage(m)}</Marked>
      </p>
    </div>
  )
}

/** An entry of the log. */
function Happened({ e }: { e: Event }) {
  return (
    <div class="hit-body">
      <div class="row hit-head">
        <strong>
          <Plain>{e.event}</Plain>
        </strong>
        {e.sequence !== undefined && <Chip>{e.sequence}</Chip>}
        {e.timestamp && <Moment at={e.timestamp} />}
      </div>
      <Value of={e.data} />
    </div>
  )
}

start('results', (answer, asked) => Array.isArray(answer['results']) && <Results answer={answer as unknown as Answer} asked={asked} />)
