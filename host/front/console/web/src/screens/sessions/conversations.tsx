import { useMemo, useState } from 'preact/hooks'
import { written } from '../../call'
import { failed, useLoad } from '../../load'
import { Button, Chip, Empty, Loaded, Moment, Plain, tell } from '../../parts'
import { keep, route, to } from '../../route'
import * as text from '../../text'
import { view } from '../../view'
import { Handed } from './handed'
import { grouped, recent, turns, type Conversation, type Turn } from './turns'

/** The conversations that transcripts brought, and search in what was said. */
export function Conversations() {
  const query = route.value.query.get('q') ?? ''
  const first = useLoad((abort): Promise<{ results: Turn[]; next?: string }> => (query ? turns({ query }, abort) : recent(undefined, abort)), [query, view.branch.value, view.namespace.value, view.moment.value, written.value], 60)
  return (
    <>
      <input type="search" aria-label={text.sessions.find} placeholder={text.sessions.find} value={query} onInput={(e) => keep({ q: e.currentTarget.value })} />
      <Handed />
      <Loaded of={first}>
        {(page) =>
          page.results.length === 0 && !query ? (
            <Empty title={text.sessions.none} hint={text.sessions.how} command="alcove setup" />
          ) : query ? (
            <Hits turns={page.results} query={query} />
          ) : (
            <List key={page.next} first={page} />
          )
        }
      </Loaded>
    </>
  )
}

function List({ first }: { first: { results: Turn[]; next?: string } }) {
  const [more, setMore] = useState<{ turns: Turn[]; next?: string }>({ turns: first.results, ...(first.next && { next: first.next }) })
  const list = useMemo(() => grouped(more.turns), [more])
  const older = async () => {
    try {
      const page = await recent(more.next, new AbortController().signal)
      setMore({ turns: [...more.turns, ...page.results], ...(page.next && { next: page.next }) })
    } catch (e) {
      tell(failed(e).message, { bad: true })
    }
  }
  return (
    <>
      <ul class="list sessions-list">
        {list.map((c) => (
          <Row key={c.namespace + c.client + c.session} of={c} whole={!more.next} />
        ))}
      </ul>
      {more.next && <Button onClick={() => void older()}>{text.sessions.older}</Button>}
    </>
  )
}

function Row({ of, whole }: { of: Conversation; whole: boolean }) {
  return (
    <li>
      <a href={to(['sessions', 'conversations', of.namespace, of.client, of.session])}>
        <Plain>{clipped(of.begins) || of.session}</Plain>
      </a>
      <p class="row quiet">
        <Moment at={new Date(of.last).toISOString()} />
        <Chip>
          <Plain>{of.client}</Plain>
        </Chip>
        <Chip>
          <Plain>{of.namespace}</Plain>
        </Chip>
        <span>{text.sessions.turns(of.turns, whole)}</span>
      </p>
    </li>
  )
}

function Hits({ turns, query }: { turns: Turn[]; query: string }) {
  if (turns.length === 0) return <p class="quiet">{text.sessions.noHits}</p>
  return (
    <ul class="list sessions-list">
      {turns.map((t) => {
        const [client = '', session = ''] = t.key.split('/')
        return (
          <li key={t.namespace + t.key}>
            <a href={to(['sessions', 'conversations', t.namespace, client, session], { q: query, turn: t.key })}>
              <Plain>{clipped(String(t.value))}</Plain>
            </a>
            <p class="row quiet">
              <Moment at={t.metadata?.ts ?? t.timestamp} />
              <span>{text.sessions.speaker(t.metadata?.speaker ?? '')}</span>
              <Chip>
                <Plain>{t.namespace}</Plain>
              </Chip>
            </p>
          </li>
        )
      })}
    </ul>
  )
}

const longest = 200 // characters of a row

const clipped = (s: string) => (s.length > longest ? s.slice(0, longest - 1) + '…' : s)
