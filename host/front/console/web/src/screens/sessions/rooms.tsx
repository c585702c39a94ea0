import { useState } from 'preact/hooks'
import { call, written } from '../../call'
import { failed, useLoad, useTick } from '../../load'
import { Button, Chip, Empty, Loaded, Moment, Plain, tell, Value } from '../../parts'
import { to } from '../../route'
import { mayWrite } from '../../session'
import * as text from '../../text'
import { past, view } from '../../view'
import { places } from './places'

interface Message {
  message_id: string
  sequence: number
  from: string
  name?: string
  content: string
  at: string
}

interface Read {
  messages: Message[] | null
  total: number
  before?: number
}

interface Present {
  agentId: string
  name: string
  role?: string
  last_seen: string
  connected: boolean
}

const t = text.sessions
const everyList = 10_000 // ms
const everyRoom = 3000 // ms

const read = (namespace: string, request: object, abort?: AbortSignal) => call<Read>('memory_read_room', request, { namespace, ...(abort && { signal: abort }) })

/** The rooms in which something was said that is still kept, that with the newest message first. */
export function Rooms() {
  const tick = useTick(everyList)
  const rooms = useLoad(
    async (abort) => {
      const all = await Promise.all((await places(abort)).map(async (namespace) => ({ namespace, ...(await read(namespace, { limit: 1 }, abort)) })))
      return all.flatMap(({ namespace, total, messages }) => (messages?.[0] ? [{ namespace, total, last: messages[0] }] : [])).sort((a, b) => b.last.at.localeCompare(a.last.at))
    },
    [view.namespace.value, written.value, tick],
  )
  return (
    <Loaded of={rooms}>
      {(list) =>
        list.length === 0 ? (
          <Empty title={t.noRooms} hint={t.howRooms} command={t.roomCommand} />
        ) : (
          <ul class="list sessions-list">
            {list.map((r) => (
              <li key={r.namespace}>
                <a href={to(['sessions', 'rooms', r.namespace])}>
                  <Plain>{r.namespace}</Plain>
                </a>
                <p class="last">
                  <b>
                    <Plain>{r.last.name || r.last.from || t.nobody}</Plain>
                  </b>{' '}
                  <Plain>{r.last.content}</Plain>
                </p>
                <p class="row quiet">
                  <Moment at={r.last.at} />
                  <span>{t.messages(r.total)}</span>
                </p>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}

/** A room: who is in it, and what was said. */
export function Room({ namespace }: { namespace: string }) {
  const tick = useTick(everyRoom)
  const newest = useLoad((abort) => read(namespace, { limit: 100 }, abort), [namespace, written.value, tick])
  const here = useLoad((abort) => call<{ agents: Present[] | null }>('memory_who_is_here', {}, { namespace, signal: abort }), [namespace, tick])
  const [older, setOlder] = useState<{ messages: Message[]; before?: number }>()
  const goOn = async (before: number) => {
    try {
      const page = await read(namespace, { limit: 100, before })
      setOlder({ messages: [...(page.messages ?? []), ...(older?.messages ?? [])], ...(page.before && { before: page.before }) })
    } catch (e) {
      tell(failed(e).message, { bad: true })
    }
  }
  const agents = here.value?.agents ?? []
  return (
    <>
      <p>
        <a href={to(['sessions', 'rooms'])}>{t.allRooms}</a>
      </p>
      <h1>
        {t.room} <Plain>{namespace}</Plain>
      </h1>
      <p class="row quiet" aria-label={t.here}>
        {agents.length === 0 ? t.nobodyHere : t.here}
        {agents.map((a) => (
          <Chip key={a.agentId} tone={a.connected ? 'good' : ''}>
            <span title={a.connected ? t.connected : t.lately}>
              <Plain>{a.name || a.agentId}</Plain>
            </span>
          </Chip>
        ))}
      </p>
      <Loaded of={newest}>
        {(page) => {
          const before = older ? older.before : page.before
          const list = merged(older?.messages ?? [], page.messages ?? [])
          if (list.length === 0) return <Empty title={t.silent} hint={t.howRooms} />
          return (
            <>
              {before && <Button onClick={() => void goOn(before)}>{t.olderMessages}</Button>}
              <ol class="chat room">
                {list.map((m) => (
                  <li key={m.message_id} class="said">
                    <p class="row quiet">
                      <b>
                        <Plain>{m.name || m.from || t.nobody}</Plain>
                      </b>
                      <Moment at={m.at} />
                    </p>
                    <Value of={m.content} />
                  </li>
                ))}
              </ol>
            </>
          )
        }}
      </Loaded>
      {mayWrite(namespace) && !past.value && <Say namespace={namespace} />}
    </>
  )
}

/** Older and newer messages, each once. */
function merged(older: Message[], newer: Message[]): Message[] {
  const known = new Set(newer.map((m) => m.message_id))
  return [...older.filter((m) => !known.has(m.message_id)), ...newer]
}

function Say({ namespace }: { namespace: string }) {
  const [typed, setTyped] = useState('')
  const say = async (e: Event) => {
    e.preventDefault()
    try {
      await call('memory_say', { message: typed }, { namespace })
      setTyped('')
      written.value++
    } catch (e) {
      tell(failed(e).message, { bad: true })
    }
  }
  return (
    <form class="row say" onSubmit={(e) => void say(e)}>
      <input aria-label={t.say} placeholder={t.say} required value={typed} onInput={(e) => setTyped(e.currentTarget.value)} />
      <Button type="submit">{t.send}</Button>
    </form>
  )
}
