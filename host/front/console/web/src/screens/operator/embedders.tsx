import { useState } from 'preact/hooks'
import { act, look } from '../../api'
import { written } from '../../call'
import { attempt, mayAct } from '../../deed'
import { amount, duration } from '../../figures'
import { failed, useLoad, useTick } from '../../load'
import { ask, Button, Chip, Copy, Field, Loaded, Note, Plain, Select, tell } from '../../parts'
import * as text from '../../text'

const t = text.operator.embedders

interface Embedder {
  name: string
  kind: string
  model?: string
  url?: string
  dimensions?: number
  standard: boolean
  generation: number
  vectors: number
  waiting: number
  refused?: number
  making?: number
  until?: string
  error?: string
}

/** The embedders, and how far their vectors are. */
export function Embedders() {
  const tick = useTick(2000)
  const list = useLoad((abort) => look<Embedder[]>('embedders', {}, abort), [tick, written.value])
  return (
    <>
      <p class="quiet">{t.lead}</p>
      <Loaded of={list}>
        {(all) => (
          <ul class="list">
            {all.map((e) => (
              <One key={e.name} of={e} />
            ))}
            {mayAct() && all.some((e) => e.standard) && (
              <li class="row">
                <span>{t.wordsAlone}</span>
                <Button onClick={() => void choose('')}>{t.words}</Button>
              </li>
            )}
          </ul>
        )}
      </Loaded>
      {mayAct() && <Add />}
      <p class="quiet below">{t.more}</p>
      <Copy command="alcove embedder list" />
    </>
  )
}

type Kind = keyof typeof t.kinds

interface Described {
  name: string
  kind: Kind
  url?: string
  model?: string
  path?: string
  family?: string
  key_env?: string
  query_prefix?: string
  document_prefix?: string
}

interface Checked {
  name: string
  model?: string
  dimensions: number
  took_ms: number
}

const parts: Record<Kind, (keyof Described)[]> = {
  openai: ['url', 'model', 'key_env', 'query_prefix', 'document_prefix'],
  ollama: ['url', 'model', 'query_prefix', 'document_prefix'],
  static: ['path'],
  family: ['family'],
}
const optional: (keyof Described)[] = ['key_env', 'query_prefix', 'document_prefix']
const examples: Record<string, string> = {
  url: 'http://127.0.0.1:11434',
  model: 'nomic-embed-text',
  path: '/home/ann/models/potion-base-8M',
  family: 'my-embedder',
  key_env: 'EXAMPLE_KEY',
  query_prefix: 'search_query: ',
  document_prefix: 'search_document: ',
}

/** A form for another embedder, which can be checked before it is added. */
function Add() {
  const [d, setDescribed] = useState<Described>({ name: '', kind: 'ollama' })
  const [standard, setStandard] = useState(true)
  const [said, say] = useState<{ tone: string; text: string }>()
  const [busy, setBusy] = useState(false)
  const set = (name: keyof Described, value: string) => (say(undefined), setDescribed({ ...d, [name]: value }))
  const config = () => ({ name: d.name, kind: d.kind, ...Object.fromEntries(parts[d.kind].filter((p) => d[p]).map((p) => [p, d[p]])) })
  const check = async () => {
    setBusy(true)
    try {
      say({ tone: 'good', text: checked(await act<Checked>('check-embedder', config())) })
    } catch (e) {
      say({ tone: 'bad', text: failed(e).message })
    }
    setBusy(false)
  }
  const add = async (e: Event) => {
    e.preventDefault()
    if (!(await ask({ title: t.addIt(d.name), will: t.addWill(d.url ?? '', standard), go: t.add }))) return
    setBusy(true)
    if (await attempt(() => act('set-embedder', { ...config(), standard }), t.added(d.name))) setDescribed({ name: '', kind: d.kind })
    setBusy(false)
  }
  return (
    <details class="card below">
      <summary>{t.new}</summary>
      <form class="stack" onSubmit={(e) => void add(e)}>
        <div class="row fields">
          <Select label={t.kind} value={d.kind} onChoose={(v) => set('kind', v)} choices={Object.entries(t.kinds)} />
          <Field label={t.name} required placeholder="local" value={d.name} onInput={(e) => set('name', e.currentTarget.value)} />
          {parts[d.kind].map((p) => (
            <Field key={p} label={t.fields[p]!} placeholder={examples[p]} required={!optional.includes(p)} value={d[p] ?? ''} onInput={(e) => set(p, e.currentTarget.value)} />
          ))}
        </div>
        <label class="row">
          <input type="checkbox" checked={standard} onChange={(e) => setStandard(e.currentTarget.checked)} />
          {t.forSearches}
        </label>
        {said && <Note tone={said.tone}>{said.text}</Note>}
        <div class="row">
          <Button disabled={busy || !d.name} onClick={() => void check()}>
            {busy ? t.checking : t.check}
          </Button>
          <Button kind="main" type="submit" disabled={busy}>
            {t.add}
          </Button>
        </div>
      </form>
    </details>
  )
}

const checked = (c: Checked) => t.works(c.name, c.dimensions, duration(c.took_ms))

async function choose(name: string) {
  if (await ask({ title: name ? t.useIt(name) : t.words, will: name ? t.useWill(name) : t.wordsWill, go: name ? t.use : t.words })) await attempt(() => act('choose-embedder', { standard: name }), name ? t.used(name) : t.wordsDone)
}

function One({ of: e }: { of: Embedder }) {
  const done = e.making ?? e.vectors
  const total = done + e.waiting
  const again = async () => {
    if (await ask({ title: t.againIt(e.name), will: t.againWill(e.vectors, e.url ?? ''), go: t.again })) await attempt(() => act('regenerate-embedder', { name: e.name }), t.begun(e.name))
  }
  const check = () => attempt(async () => tell(checked(await act<Checked>('check-embedder', { name: e.name }))))
  const remove = async () => {
    if (await ask({ title: t.removeIt(e.name), will: t.removeWill(e.vectors), go: t.remove, danger: true })) await attempt(() => act('remove-embedder', { name: e.name }), t.removed(e.name))
  }
  return (
    <li>
      <div class="row">
        <strong>
          <Plain>{e.name}</Plain>
        </strong>
        <span class="quiet">
          <Plain>{[e.kind === e.name ? '' : e.kind, e.model, e.url].filter(Boolean).join(' · ')}</Plain>
          {!!e.dimensions && `, ${t.dimensions(e.dimensions)}`}
        </span>
        {e.standard && <Chip tone="good">{t.standard}</Chip>}
        {mayAct() && (
          <span class="row apart">
            {!e.standard && <Button onClick={() => void choose(e.name)}>{t.use}</Button>}
            {e.kind !== 'builtin' && e.kind !== 'given' && <Button onClick={() => void check()}>{t.check}</Button>}
            {e.kind !== 'builtin' && <Button onClick={() => void again()}>{t.again}</Button>}
            {e.kind !== 'builtin' && <Button onClick={() => void remove()}>{t.remove}</Button>}
          </span>
        )}
      </div>
      <p>
        <progress max={total || 1} value={total ? done : 1} aria-label={t.progress(e.name)} /> {t.state(amount(e.vectors), amount(e.waiting))}
        {!!e.making && `, ${t.making(amount(e.making))}`}
        {!!e.refused && `, ${t.refused(amount(e.refused))}`}
      </p>
      {e.until && <p>{t.until(e.until)}</p>}
      {e.error && (
        <p class="failed">
          <Plain>{e.error}</Plain>
        </p>
      )}
    </li>
  )
}
