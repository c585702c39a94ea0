import { Component } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Button, Chip, Field, Note, Plain } from '../../parts'
import { to } from '../../route'
import { Stream, type Event } from '../../stream'
import * as text from '../../text'
import { view } from '../../view'

/** What happens, as it happens. */
export function Events() {
  const [stream, setStream] = useState<Stream>()
  const [filter, setFilter] = useState('')
  const [rows, setRows] = useState(drawn)
  useEffect(() => {
    const s = new Stream(view.branch.value)
    setStream(s)
    return () => s.close()
  }, [view.branch.value])
  const events = stream?.events.value ?? []
  const shown = useMemo(() => events.filter((e) => admits(filter, e)), [events, filter])
  if (!stream) return null
  const link = stream.link.value
  return (
    <>
      <div class="row link">
        <Chip tone={link === 'live' ? 'good' : link === 'lost' ? 'bad' : ''}>
          <span role="status">{text.sessions.link[link]}</span>
        </Chip>
        {link === 'paused' ? <Button onClick={() => stream.resume()}>{text.sessions.resume}</Button> : <Button onClick={() => stream.pause()}>{text.sessions.pause}</Button>}
        <Field label={text.sessions.filter} value={filter} onInput={(e) => setFilter(e.currentTarget.value)} />
      </div>
      {stream.note.value && <Note tone="warn">{stream.note.value}</Note>}
      {events.length === 0 ? (
        <p class="quiet">{text.sessions.quiet}</p>
      ) : (
        <ul class="events" aria-label={text.sessions.tabs.events}>
          {shown.slice(0, rows).map((e) => (
            <Row key={e.number} event={e} />
          ))}
        </ul>
      )}
      {shown.length > rows && <Button onClick={() => setRows(Infinity)}>{text.more}</Button>}
    </>
  )
}

const drawn = 200 // rows, until one asks for more: each that comes moves all below it

/** An event, which never changes: hundreds a second come, and the others are not drawn again. */
class Row extends Component<{ event: Event }> {
  override shouldComponentUpdate() {
    return false
  }

  override render() {
    const e = this.props.event
    const memory = memoryOf(e)
    const at = new Date(e.timestamp)
    return (
      <li>
        <time datetime={e.timestamp} title={at.toLocaleString()}>
          {clock.format(at)}
        </time>
        <Chip>{e.kind ?? text.sessions.said}</Chip>
        <Plain>{e.agent ?? e.from ?? ''}</Plain>
        {memory ? (
          <a href={to(['memories', ...memory])}>
            <Plain>{memory.join('#')}</Plain>
          </a>
        ) : (
          <span class="quiet">
            <Plain>{e.content ?? JSON.stringify(e.payload) ?? ''}</Plain>
          </span>
        )}
      </li>
    )
  }
}

const clock = new Intl.DateTimeFormat('en', { timeStyle: 'medium' })

/** Whether an event has all words of a filter: kind, agent or namespace. */
function admits(filter: string, e: Event): boolean {
  const all = `${e.kind ?? ''} ${e.agent ?? e.from ?? ''} ${e.namespace}`.toLowerCase()
  return filter.toLowerCase().split(/\s+/).every((w) => all.includes(w))
}

/** The memory that an event is about. */
function memoryOf(e: Event): [namespace: string, key: string] | undefined {
  const id = (e.payload as { factId?: unknown } | undefined)?.factId
  if (typeof id !== 'string') return undefined
  const at = id.indexOf('#')
  return at > 0 ? [id.slice(0, at), id.slice(at + 1)] : undefined
}
