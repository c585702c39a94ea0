import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useLoad } from '../../load'
import { Button, Chip, Empty, Loaded, Moment, Plain, Value } from '../../parts'
import { keep, route, to } from '../../route'
import * as text from '../../text'
import { view } from '../../view'
import { conversation, type Turn } from './turns'

/** A conversation, as it was held, with search inside. */
export function Chat({ namespace, client, session }: { namespace: string; client: string; session: string }) {
  const said = useLoad((abort) => conversation(namespace, `${client}/${session}/`, abort), [namespace, client, session, view.branch.value, view.moment.value])
  return (
    <>
      <p>
        <a href={to(['sessions'])}>{text.sessions.back}</a>
      </p>
      <h1>{text.sessions.conversation}</h1>
      <Loaded of={said}>{(turns) => (turns.length === 0 ? <Empty title={text.sessions.gone} /> : <Said turns={turns} />)}</Loaded>
    </>
  )
}

function Said({ turns }: { turns: Turn[] }) {
  const { query } = route.value
  const wanted = query.get('q') ?? ''
  const at = query.get('turn') ?? ''
  const list = useRef<HTMLOListElement>(null)
  const hits = useMemo(() => turns.filter((t) => matches(t, wanted)), [turns, wanted])
  const here = hits.findIndex((t) => t.key === at)
  useEffect(() => {
    list.current?.querySelector(`[data-key="${CSS.escape(at)}"]`)?.scrollIntoView({ block: 'center' })
  }, [at, turns])
  const jump = (by: number) => keep({ q: wanted, turn: hits[(here + by + hits.length) % hits.length]!.key })
  const first = turns[0]!
  return (
    <>
      <p class="row quiet">
        <Moment at={first.metadata?.ts ?? first.timestamp} />
        <Chip>
          <Plain>{first.metadata?.client ?? ''}</Plain>
        </Chip>
        <Chip>
          <Plain>{first.namespace}</Plain>
        </Chip>
        {first.metadata?.folder && <Plain>{first.metadata.folder}</Plain>}
        {first.metadata?.git_branch && (
          <Chip>
            <Plain>{first.metadata.git_branch}</Plain>
          </Chip>
        )}
      </p>
      <div class="row chat-find">
        <input type="search" aria-label={text.sessions.inside} placeholder={text.sessions.inside} value={wanted} onInput={(e) => keep({ q: e.currentTarget.value })} onKeyDown={(e) => e.key === 'Enter' && hits.length > 0 && jump(e.shiftKey ? -1 : 1)} />
        {wanted && (
          <>
            <span role="status">{text.sessions.hits(here + 1, hits.length)}</span>
            <Button disabled={hits.length === 0} onClick={() => jump(-1)}>
              {text.sessions.previous}
            </Button>
            <Button disabled={hits.length === 0} onClick={() => jump(1)}>
              {text.sessions.next}
            </Button>
          </>
        )}
      </div>
      <ol class="chat" ref={list}>
        {turns.map((t) => (
          <Line key={t.key} turn={t} hit={wanted !== '' && matches(t, wanted)} here={t.key === at} />
        ))}
      </ol>
    </>
  )
}

function Line({ turn, hit, here }: { turn: Turn; hit: boolean; here: boolean }) {
  const speaker = turn.metadata?.speaker ?? 'user'
  return (
    <li class={`said ${speaker} ${hit ? 'hit' : ''} ${here ? 'here' : ''}`} data-key={turn.key}>
      <p class="row quiet">
        <b>{text.sessions.speaker(speaker)}</b>
        <Moment at={turn.metadata?.ts ?? turn.timestamp} />
        <a href={to(['memories', turn.namespace, turn.key])}>{text.sessions.memory}</a>
      </p>
      <Value of={turn.value} />
      {turn.metadata?.caption && (
        <p class="quiet">
          <Plain>{turn.metadata.caption}</Plain>
        </p>
      )}
      {turn.truncated && <p class="quiet">{text.sessions.cut}</p>}
    </li>
  )
}

/** Whether a turn has all words of a text. */
function matches(t: Turn, wanted: string): boolean {
  const said = String(t.value).toLowerCase()
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  return words.length > 0 && words.every((w) => said.includes(w))
}
