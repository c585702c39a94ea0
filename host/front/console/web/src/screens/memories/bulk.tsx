import { useState } from 'preact/hooks'
import { ask, Button, Field, Plain } from '../../parts'
import * as text from '../../text'
import { attempt, forget, forgetAndTell, moveAndTell, planMove, planTags, tagAndTell } from './acts'
import type { Selection } from './browse'
import type { Found } from './query'

const words = text.memories.bulk
const mostNamed = 12

type Act = 'tag' | 'move'

/** What can be done with the chosen memories. Each act is shown before it is done. */
export function Bulk({ chosen, shown }: { chosen: Selection; shown: Found[] }) {
  const [act, setAct] = useState<Act | null>(null)
  const list = chosen.list
  if (shown.length === 0) return null
  const done = (why: unknown) => {
    if (why) return
    setAct(null)
    chosen.all([])
  }
  return (
    <div class={list.length > 0 ? 'bulk on' : 'bulk'}>
      <div class="row">
        <label class="facet">
          <input type="checkbox" checked={list.length > 0 && list.length === shown.length} indeterminate={list.length > 0 && list.length < shown.length} onChange={() => chosen.all(list.length === shown.length ? [] : shown)} />
          <span>{list.length === 0 ? words.all(shown.length) : words.chosen(list.length)}</span>
        </label>
        {list.length > 0 && (
          <>
            <Button onClick={() => void attempt(() => proposeForget(list, false, done))}>{words.forget}</Button>
            <Button onClick={() => void attempt(() => proposeForget(list, true, done))}>{words.archive}</Button>
            <Button aria-expanded={act === 'tag'} onClick={() => setAct(act === 'tag' ? null : 'tag')}>
              {words.tag}
            </Button>
            <Button aria-expanded={act === 'move'} onClick={() => setAct(act === 'move' ? null : 'move')}>
              {words.move}
            </Button>
            <Button onClick={() => chosen.all([])}>{words.none}</Button>
          </>
        )}
      </div>
      {list.length > 0 && act === 'tag' && <TagForm list={list} done={done} />}
      {list.length > 0 && act === 'move' && <MoveForm list={list} done={done} />}
    </div>
  )
}

/** Names of memories, the first of many. */
export function Names({ list }: { list: { namespace: string; key: string; more?: string }[] }) {
  return (
    <ul class="names">
      {list.slice(0, mostNamed).map((m) => (
        <li key={m.namespace + '\n' + m.key}>
          <Plain>{m.namespace}</Plain> / <Plain>{m.key}</Plain> {m.more && <span class="quiet">{m.more}</span>}
        </li>
      ))}
      {list.length > mostNamed && <li class="quiet">{words.andMore(list.length - mostNamed)}</li>}
    </ul>
  )
}

type Done = (why: unknown) => void

async function proposeForget(list: Found[], archive: boolean, done: Done): Promise<void> {
  const would = await forget(list, { archive, dryRun: true })
  const will = (
    <>
      <p>{archive ? words.willArchive(would.length) : words.willForget(would.length)}</p>
      <Names list={would} />
    </>
  )
  if (await ask({ title: archive ? words.archiveTitle : words.forgetTitle, will, go: archive ? words.archive : words.forget, danger: !archive }))
    done(await attempt(() => forgetAndTell(list, archive)))
}

function TagForm({ list, done }: { list: Found[]; done: Done }) {
  const [add, setAdd] = useState('')
  const [remove, setRemove] = useState('')
  const propose = async () => {
    const plan = await planTags(list, listed(add), listed(remove))
    const some = plan.filter((p) => p.changes)
    const will = (
      <>
        <p>{words.willTag(some.length, plan.length - some.length)}</p>
        <Names list={some.map((p) => ({ ...p.memory, more: '→ ' + (p.tags.join(', ') || words.noTags) }))} />
      </>
    )
    if (some.length === 0 || (await ask({ title: words.tagTitle, will, go: words.tag }))) done(await attempt(() => (some.length === 0 ? Promise.resolve() : tagAndTell(plan))))
  }
  return (
    <form class="row" onSubmit={(e) => (e.preventDefault(), void attempt(propose))}>
      <Field label={words.add} hint={words.commas} value={add} onInput={(e) => setAdd(e.currentTarget.value)} />
      <Field label={words.remove} hint={words.commas} value={remove} onInput={(e) => setRemove(e.currentTarget.value)} />
      <Button type="submit" kind="main" disabled={listed(add).length + listed(remove).length === 0}>
        {words.preview}
      </Button>
    </form>
  )
}

/** The elements of a list that is written with commas. */
export const listed = (s: string) => [...new Set(s.split(',').map((t) => t.trim()))].filter(Boolean)

function MoveForm({ list, done }: { list: Found[]; done: Done }) {
  const [namespace, setNamespace] = useState('')
  const propose = async () => {
    const steps = await planMove(
      list.filter((m) => m.namespace !== namespace),
      (p) => ({ namespace, key: p.key }),
    )
    const free = steps.filter((s) => !s.taken)
    const will = (
      <>
        <p>{words.willMove(free.length, namespace, steps.length - free.length)}</p>
        <Names list={steps.map((s) => ({ ...s.from, ...(s.taken && { more: words.taken }) }))} />
      </>
    )
    if (await ask({ title: words.moveTitle, will, go: words.move })) done(await attempt(() => moveAndTell(steps)))
  }
  return (
    <form class="row" onSubmit={(e) => (e.preventDefault(), void attempt(propose))}>
      <Field label={words.target} value={namespace} onInput={(e) => setNamespace(e.currentTarget.value.trim())} />
      <Button type="submit" kind="main" disabled={!namespace}>
        {words.preview}
      </Button>
    </form>
  )
}
