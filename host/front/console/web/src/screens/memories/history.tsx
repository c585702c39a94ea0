import { useState } from 'preact/hooks'
import { call, written } from '../../api'
import { useLoad } from '../../load'
import { ask, Button, Chip, Diff, Loaded, Moment, Plain, Value } from '../../parts'
import { visible } from '../../parts/value'
import { text } from '../../text'
import { view } from '../../view'
import { attempt, change, store } from './acts'
import { recall, type Memory, type Place } from './memory'

const words = text.memories

/** A version as memory_history tells it. */
interface Version extends Partial<Memory> {
  version: number
  timestamp: string
  deleted?: boolean
  purged?: string
  truncated?: boolean
  /** The call that wrote it. */
  by?: { agent?: string; client?: string; family?: string; session?: string }
}

interface History {
  versions: Version[]
  more?: string
}

/** The versions of a memory, newest first, each as what it changed. */
export function Versions({ place, now, may }: { place: Place; now: Memory | null; may: boolean }) {
  const [pages, setPages] = useState<Version[]>([])
  const read = (at: string, abort?: AbortSignal) =>
    call<History>('memory_history', { ...place, limit: 20, verbose: true, authors: true, ...(at && { as_of: at }) }, abort ? { signal: abort } : {})
  const first = useLoad((abort) => read(view.moment.value, abort), [place.namespace, place.key, view.branch.value, view.moment.value, written.value])
  const [next, setNext] = useState<{ of?: History; more?: string }>({})
  const more = next.of === first.value ? next.more : first.value?.more
  const older = () =>
    void attempt(async () => {
      const page = await read(more!)
      setPages([...(next.of === first.value ? pages : []), ...page.versions])
      setNext({ of: first.value!, ...(page.more && { more: page.more }) })
    })
  return (
    <Loaded of={first}>
      {(h) => {
        const all = next.of === h ? [...h.versions, ...pages] : h.versions
        return (
          <>
            <ol class="versions">
              {all.map((v, i) => (
                <Entry key={v.version} v={v} before={all[i + 1]} oldest={i === all.length - 1 && !more} first={i === 0} place={place} now={now} may={may} />
              ))}
            </ol>
            {more && <Button onClick={older}>{words.older}</Button>}
          </>
        )
      }}
    </Loaded>
  )
}

interface EntryProps {
  v: Version
  before: Version | undefined
  oldest: boolean
  first: boolean
  place: Place
  now: Memory | null
  may: boolean
}

function Entry({ v, before, oldest, first, place, now, may }: EntryProps) {
  const [open, setOpen] = useState(first)
  const by = v.by ?? {}
  return (
    <li class={first ? 'card now' : 'card'}>
      <div class="row">
        <Button class="small" aria-expanded={open} onClick={() => setOpen(!open)}>
          v{v.version}
        </Button>
        <Moment at={v.timestamp} />
        {(by.agent ?? v.agent) && (
          <Chip>
            <Plain>{(by.agent ?? v.agent)!}</Plain>
          </Chip>
        )}
        {by.family && <Chip tone="good">{words.byFamily(visible(by.family))}</Chip>}
        {by.client && (
          <span class="quiet">
            <Plain>{by.client}</Plain>
          </span>
        )}
        <span>{what(v, before, oldest)}</span>
        {may && !first && !v.deleted && !v.purged && (
          <Button class="small" onClick={() => void attempt(() => restore(place, v, now))}>
            {words.restore}
          </Button>
        )}
      </div>
      {open && !v.deleted && !v.purged && <Shown v={v} before={before} place={place} />}
    </li>
  )
}

/** What a version did, in words. */
function what(v: Version, before: Version | undefined, oldest: boolean): string {
  if (v.purged) return words.did.purged
  if (v.deleted) return words.did.forgot
  if (!before) return oldest ? words.did.began : ''
  if (before.deleted || before.purged) return words.did.again
  const parts = Object.entries(words.did.parts).filter(([name]) => differs(v[name as keyof Version], before[name as keyof Version]))
  return parts.length === 0 ? words.did.same : words.did.changed(parts.map(([, say]) => say))
}

const differs = (a: unknown, b: unknown) => JSON.stringify(a ?? null) !== JSON.stringify(b ?? null)

/** The difference to the version before, or the first value. Values that a list left out are read. */
function Shown({ v, before, place }: { v: Version; before: Version | undefined; place: Place }) {
  const value = async (of: Version, abort: AbortSignal) => (of.truncated ? (await recall(place, `v${of.version}`, abort))?.value : of.value)
  const both = useLoad(
    async (abort) => ({ after: await value(v, abort), before: before && !before.deleted && !before.purged ? await value(before, abort) : undefined }),
    [v.version, before?.version ?? 0],
  )
  return (
    <Loaded of={both}>
      {(b) => (
        <>
          {b.before === undefined ? <Value of={b.after} /> : differs(b.before, b.after) ? <Diff before={b.before} after={b.after} /> : <p class="quiet">{words.sameValue}</p>}
          <Details v={v} before={before} />
        </>
      )}
    </Loaded>
  )
}

/** Tags, type and the like, where they changed. */
function Details({ v, before }: { v: Version; before: Version | undefined }) {
  if (!before || before.deleted || before.purged) return null
  const parts = Object.entries(words.did.parts).filter(([name]) => name !== 'value' && differs(v[name as keyof Version], before[name as keyof Version]))
  if (parts.length === 0) return null
  return (
    <dl class="details">
      {parts.map(([name, say]) => (
        <div key={name}>
          <dt>{say}</dt>
          <dd class="diff">
            <del>{visible(short(before[name as keyof Version]))}</del> <ins>{visible(short(v[name as keyof Version]))}</ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function short(value: unknown): string {
  if (value === undefined || value === null) return words.none
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Stores a version again: what is there now stays in the history. */
async function restore(place: Place, v: Version, now: Memory | null): Promise<void> {
  const was = await recall(place, `v${v.version}`)
  if (!was) return
  const will = <p>{words.restoreWill(v.version, new Date(v.timestamp).toLocaleString())}</p>
  if (!(await ask({ title: words.restoreTitle(visible(place.key)), will, go: words.restore }))) return
  if (now) await change(now, was, words.done.restored(v.version))
  else await store([was], { if_version: 0 })
}
