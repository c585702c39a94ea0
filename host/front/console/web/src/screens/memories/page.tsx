import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call, written } from '../../call'
import { useLoad } from '../../load'
import { ask, Button, Chip, Empty, Field, Icon, Loaded, Moment, Plain } from '../../parts'
import { visible } from '../../parts/value'
import { go, to } from '../../route'
import { mayWrite } from '../../session'
import * as text from '../../text'
import { past, view } from '../../view'
import { attempt, change, forgetAndTell, moveAndTell, planMove, withPin } from './acts'
import { Edit } from './edit'
import { Versions } from './history'
import { pinned, recall, type Memory, type Place } from './memory'
import { lastAsked, writeAsked } from './query'
import { Tree } from './tree'

const words = text.memories

/** A memory: its value, what it is linked with, who wrote and read it, and all its versions. */
export function Page({ namespace, name }: { namespace: string; name: string }) {
  const place = { namespace, key: name }
  const memory = useLoad((abort) => recall(place, view.moment.value, abort), [namespace, name, view.branch.value, view.moment.value, written.value])
  const may = !past.value && mayWrite(namespace)
  useEffect(() => {
    scrollTo(0, 0)
    document.getElementById('content')?.focus()
  }, [])
  return (
    <article class="memory">
      <p>
        <a href={to(['memories'], lastAsked.value ? writeAsked(lastAsked.value) : {})}>{words.back}</a>
      </p>
      <h1>
        <Plain>{name}</Plain>
      </h1>
      <Loaded of={memory}>{(m) => (m ? <Present m={m} may={may} history={<History place={place} now={m} may={may} />} /> : <Gone place={place} may={may} />)}</Loaded>
    </article>
  )
}

function History({ place, now, may }: { place: Place; now: Memory | null; may: boolean }) {
  return (
    <section aria-labelledby="history">
      <h2 id="history">{words.history}</h2>
      <Versions place={place} now={now} may={may} />
    </section>
  )
}

function Gone({ place, may }: { place: Place; may: boolean }) {
  return (
    <>
      <Empty title={words.gone} hint={past.value ? words.goneThen : words.goneHint} />
      <History place={place} now={null} may={may} />
    </>
  )
}

function Present({ m, may, history }: { m: Memory; may: boolean; history: ComponentChildren }) {
  const [editing, setEditing] = useState(false)
  return (
    <>
      {may && <Acts m={m} editing={editing} edit={() => setEditing(!editing)} />}
      <div class="memory-columns page">
        <div class="about">
          {editing ? (
            <Edit m={m} done={() => setEditing(false)} />
          ) : (
            <section class="card" aria-label={words.value}>
              <Tree of={m.value} />
            </section>
          )}
          {history}
        </div>
        <aside class="about" aria-label={words.about}>
          <About m={m} />
          <Links m={m} />
          <Askers m={m} />
        </aside>
      </div>
    </>
  )
}

function Acts({ m, editing, edit }: { m: Memory; editing: boolean; edit: () => void }) {
  const [moving, setMoving] = useState(false)
  const pin = !pinned(m)
  return (
    <div class="acts">
      <div class="row">
        <Button kind="main" aria-expanded={editing} onClick={edit}>
          {words.edit.open}
        </Button>
        <Button icon="pin" aria-pressed={!pin} onClick={() => void attempt(async () => void (await change(m, withPin(m, pin), pin ? words.done.pinned(visible(m.key)) : words.done.unpinned(visible(m.key)))))}>
          {pin ? words.pin : words.unpin}
        </Button>
        <Button aria-expanded={moving} onClick={() => setMoving(!moving)}>
          {words.bulk.move}
        </Button>
        {m.state ? (
          <Button onClick={() => void attempt(async () => void (await change(m, m, words.done.active(visible(m.key)))))}>{words.activate}</Button>
        ) : (
          <Button onClick={() => void attempt(() => forgetAndTell([m], true))}>{words.bulk.archive}</Button>
        )}
        <Button kind="danger" onClick={() => void attempt(() => forgetAndTell([m], false))}>
          {words.bulk.forget}
        </Button>
      </div>
      {moving && <Move m={m} done={() => setMoving(false)} />}
    </div>
  )
}

function Move({ m, done }: { m: Memory; done: () => void }) {
  const [target, setTarget] = useState<Place>({ namespace: m.namespace, key: m.key })
  const propose = async () => {
    const steps = await planMove([m], () => target)
    const taken = steps[0]!.taken
    const will = (
      <>
        <p>
          <Plain>{m.namespace}</Plain> / <Plain>{m.key}</Plain> → <Plain>{target.namespace}</Plain> / <Plain>{target.key}</Plain>
        </p>
        <p>{words.moveWill}</p>
      </>
    )
    if (taken) return void (await ask({ title: words.moveTaken, will: <p>{words.moveTakenHint}</p>, go: text.dialog.close }))
    if (!(await ask({ title: words.bulk.moveTitle, will, go: words.bulk.move }))) return
    await moveAndTell(steps)
    done()
    go(to(['memories', target.namespace, target.key]))
  }
  return (
    <form class="row" onSubmit={(e) => (e.preventDefault(), void attempt(propose))}>
      <Field label={words.bulk.target} value={target.namespace} onInput={(e) => setTarget({ ...target, namespace: e.currentTarget.value })} />
      <Field label={words.key} value={target.key} onInput={(e) => setTarget({ ...target, key: e.currentTarget.value })} />
      <Button type="submit" kind="main" disabled={!target.namespace || !target.key || (target.namespace === m.namespace && target.key === m.key)}>
        {words.bulk.preview}
      </Button>
    </form>
  )
}

/** What is known of a memory beside its value. */
function About({ m }: { m: Memory }) {
  const { pinned: _, ...metadata } = m.metadata ?? {}
  return (
    <section class="card">
      <h2 class="unseen">{words.about}</h2>
      <dl class="details">
        <Known name={words.facet.namespace}>
          <a href={to(['memories'], { ns: m.namespace })}>
            <Plain>{m.namespace}</Plain>
          </a>
        </Known>
        {m.state && (
          <Known name={words.facet.state}>
            <Chip tone="warn">{m.state}</Chip>
          </Known>
        )}
        {pinned(m) && (
          <Known name={words.pinned}>
            <Icon name="pin" /> {words.pinnedHint}
          </Known>
        )}
        {m.type && (
          <Known name={words.facet.type}>
            <a href={to(['memories'], { type: m.type })}>
              <Plain>{m.type}</Plain>
            </a>
          </Known>
        )}
        {m.tags && (
          <Known name={words.facet.tags}>
            {m.tags.map((t) => (
              <a key={t} class="tag" href={to(['memories'], { tag: t })}>
                <Plain>{t}</Plain>
              </a>
            ))}
          </Known>
        )}
        {m.importance !== undefined && <Known name={words.importance}>{m.importance}</Known>}
        {m.expires_at && (
          <Known name={words.expires}>
            <Moment at={m.expires_at} />
          </Known>
        )}
        <Known name={words.written}>
          <Moment at={m.timestamp} /> <span class="quiet">v{m.version}</span>
          {m.agent && (
            <>
              {' '}
              {words.by} <Plain>{m.agent}</Plain>
            </>
          )}
        </Known>
        {m.created && (
          <Known name={words.created}>
            <Moment at={m.created.includes('T') ? m.created : m.created.replace(' ', 'T') + 'Z'} />
          </Known>
        )}
        <Used use={m.use} />
        {m.supersedes && (
          <Known name={words.supersedes}>
            <KeyLinks namespace={m.namespace} keys={m.supersedes} />
          </Known>
        )}
        {Object.keys(metadata).length > 0 && (
          <Known name={words.metadata}>
            <Tree of={metadata} />
          </Known>
        )}
      </dl>
    </section>
  )
}

function Known({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** How often a memory was recalled. Counters are of the present. */
function Used({ use }: { use: Memory['use'] }) {
  if (!use || past.value) return null
  return (
    <Known name={words.used}>
      {words.accesses(use.accesses)}
      {use.last_access && (
        <>
          , {words.last} <Moment at={use.last_access} />
        </>
      )}
      {!!use.health && <p class="quiet">{words.health(use.health)}</p>}
    </Known>
  )
}

function KeyLinks({ namespace, keys }: { namespace: string; keys: string[] }) {
  return (
    <ul class="links">
      {keys.map((k) => (
        <li key={k}>
          <a href={to(['memories', namespace, k])}>
            <Plain>{k}</Plain>
          </a>
        </li>
      ))}
    </ul>
  )
}

interface Link {
  source_id: string
  target_id: string
  relation: string
}

/** Links in both directions: with their relations if the family graph serves, else those of the memory itself. */
function Links({ m }: { m: Memory }) {
  const linked = useLoad(
    (abort) =>
      call<{ links: Link[] }>('memory_get_links', { id: `${m.namespace}#${m.key}`, limit: 100 }, { signal: abort, namespace: m.namespace }).catch(() => ({
        links: (m.links ?? []).map((k) => ({ source_id: `${m.namespace}#${m.key}`, target_id: `${m.namespace}#${k}`, relation: 'related_to' })),
      })),
    [m.namespace, m.key, m.version, view.branch.value, written.value],
  )
  const own = `${m.namespace}#${m.key}`
  const all = linked.value?.links ?? []
  const out = all.filter((l) => l.source_id === own)
  const into = all.filter((l) => l.source_id !== own)
  return (
    <section class="card">
      <h2>{words.links}</h2>
      {all.length === 0 && <p class="quiet">{linked.busy ? text.busy : words.noLinks}</p>}
      {out.length > 0 && <LinkList title={words.linksTo} list={out.map((l) => ({ ...l, id: l.target_id }))} />}
      {into.length > 0 && <LinkList title={words.linksFrom} list={into.map((l) => ({ ...l, id: l.source_id }))} />}
    </section>
  )
}

function LinkList({ title, list }: { title: string; list: { relation: string; id: string }[] }) {
  return (
    <>
      <h3>{title}</h3>
      <ul class="links">
        {list.map((l) => (
          <li key={l.relation + l.id}>
            {l.relation !== 'related_to' && (
              <span class="quiet">
                <Plain>{l.relation}</Plain>{' '}
              </span>
            )}
            <Target of={l.id} />
          </li>
        ))}
      </ul>
    </>
  )
}

/** A memory by its id, NAMESPACE#KEY, as a link; an entity by its name. */
function Target({ of }: { of: string }) {
  const at = of.indexOf('#')
  if (at < 0) return <Plain>{of}</Plain>
  return (
    <a href={to(['memories', of.slice(0, at), of.slice(at + 1)])}>
      <Plain>{of.slice(at + 1)}</Plain>
    </a>
  )
}

interface Asker {
  agent?: string
  query: string
  timestamp: string
}

/** Who found the memory by a question, as far as the server keeps it. */
function Askers({ m }: { m: Memory }) {
  const asked = useLoad(
    (abort) => call<{ recalls?: Asker[] }>('memory_recall', { key: m.key, namespace: m.namespace, use: true, recalls: 20 }, { signal: abort }),
    [m.namespace, m.key, m.version, view.branch.value],
  )
  const list = asked.value?.recalls ?? []
  if (list.length === 0 || past.value) return null
  return (
    <section class="card">
      <h2>{words.askers}</h2>
      <ul class="links">
        {list.map((a) => (
          <li key={a.timestamp + a.query}>
            <Plain>{a.query}</Plain>{' '}
            <span class="quiet">
              {a.agent && (
                <>
                  <Plain>{a.agent}</Plain>,{' '}
                </>
              )}
              <Moment at={a.timestamp} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
