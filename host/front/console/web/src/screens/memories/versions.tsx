import { useState } from 'preact/hooks'
import { useLoad } from '../../load'
import { Button, Chip, Diff, Loaded, Moment, Plain, Value } from '../../parts'
import { visible } from '../../parts/value'
import * as text from '../../text'
import { recall, type Memory, type Place } from './memory'

const words = text.memories

/** A version as memory_history tells it. */
export interface Version extends Partial<Memory> {
  version: number
  timestamp: string
  deleted?: boolean
  purged?: string
  truncated?: boolean
  /** The call that wrote it. */
  by?: { agent?: string; client?: string; family?: string; session?: string }
}

/** What memory_history answers: versions, newest first, and where the next page begins. */
export interface History {
  versions: Version[]
  more?: string
}

interface ListProps {
  all: Version[]
  /** Whether the last of them is the first that there was. */
  whole: boolean
  place: Place
  /** Stores one of them again; nothing: that is not offered. */
  onRestore?: ((v: Version) => void) | undefined
}

/** Versions, newest first, each as what it changed. */
export function VersionList({ all, whole, place, onRestore }: ListProps) {
  return (
    <ol class="versions">
      {all.map((v, i) => (
        <Entry key={v.version} v={v} before={all[i + 1]} oldest={i === all.length - 1 && whole} first={i === 0} place={place} onRestore={onRestore} />
      ))}
    </ol>
  )
}

interface EntryProps extends Pick<ListProps, 'place' | 'onRestore'> {
  v: Version
  before: Version | undefined
  oldest: boolean
  first: boolean
}

function Entry({ v, before, oldest, first, place, onRestore }: EntryProps) {
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
        {onRestore && !first && !v.deleted && !v.purged && (
          <Button class="small" onClick={() => onRestore(v)}>
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
