import { useEffect, useRef, useState } from 'preact/hooks'
import { Button, Diff, Field, Note, Problem, written } from '../../parts'
import { visible } from '../../parts/value'
import type { Failure } from '../../failure'
import { failed } from '../../load'
import * as text from '../../text'
import { change } from './acts'
import { listed } from './bulk'
import { recall, type Memory } from './memory'

const words = text.memories.edit

interface Form {
  kind: 'text' | 'json'
  value: string
  tags: string
  type: string
  importance: string
  expires: string
}

const formOf = (m: Memory): Form => ({
  kind: typeof m.value === 'string' ? 'text' : 'json',
  value: written(m.value),
  tags: (m.tags ?? []).join(', '),
  type: m.type ?? '',
  importance: m.importance?.toString() ?? '',
  expires: m.expires_at ?? '',
})

/** The memory that a form makes of another, or why it makes none. */
function read(f: Form, m: Memory): { memory: Memory } | { wrong: string } {
  let value: unknown = f.value
  if (f.kind === 'json') {
    try {
      value = JSON.parse(f.value)
    } catch (e) {
      return { wrong: words.notJson(e instanceof Error ? e.message : '') }
    }
  }
  const { type: _t, importance: _i, expires_at: _e, tags: _g, ...rest } = m
  const importance = f.importance.trim() === '' ? undefined : Number(f.importance)
  if (importance !== undefined && !(importance >= 0 && importance <= 1)) return { wrong: words.notImportance }
  return {
    memory: {
      ...rest,
      value,
      tags: listed(f.tags),
      ...(f.type.trim() && { type: f.type.trim() }),
      ...(importance !== undefined && { importance }),
      ...(f.expires.trim() && { expires_at: f.expires.trim() }),
    },
  }
}

/** Changes a memory. What somebody else changed meanwhile is never overwritten unseen. */
export function Edit({ m, done }: { m: Memory; done: () => void }) {
  const [base, setBase] = useState(m)
  const [form, setForm] = useState(() => formOf(m))
  const [theirs, setTheirs] = useState<Memory | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [wrong, setWrong] = useState('')
  const [busy, setBusy] = useState(false)
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => box.current?.focus(), [])
  const set = (part: Partial<Form>) => setForm({ ...form, ...part })
  const save = async (on: Memory) => {
    const made = read(form, on)
    setWrong('wrong' in made ? made.wrong : '')
    if ('wrong' in made) return
    setBusy(true)
    setFailure(null)
    try {
      await change(on, made.memory, text.memories.done.saved(visible(m.key)))
      done()
    } catch (e) {
      const why = failed(e)
      const now = why.code === 'E_CONFLICT' ? await recall(m).catch(() => null) : null
      if (now) setTheirs(now)
      else setFailure(why)
    }
    setBusy(false)
  }
  return (
    <form class="card edit" aria-label={words.title} onSubmit={(e) => (e.preventDefault(), void save(base))}>
      <h2>{words.title}</h2>
      {m.state && <Note tone="warn">{words.activates(m.state)}</Note>}
      {theirs && (
        <Conflict
          mine={form}
          theirs={theirs}
          base={base}
          overwrite={() => (setBase(theirs), setTheirs(null), void save(theirs))}
          take={() => (setBase(theirs), setForm(formOf(theirs)), setTheirs(null))}
          keep={() => (setBase(theirs), setTheirs(null))}
        />
      )}
      {failure && <Problem failure={failure} />}
      {wrong && <Note tone="bad">{wrong}</Note>}
      <div class="row" role="radiogroup" aria-label={words.kind}>
        {(['text', 'json'] as const).map((kind) => (
          <label key={kind}>
            <input type="radio" name="kind" checked={form.kind === kind} onChange={() => set({ kind })} /> {words.kinds[kind]}
          </label>
        ))}
      </div>
      <label class="unseen" for="edit-value">
        {words.value}
      </label>
      <textarea
        id="edit-value"
        ref={box}
        dir="auto"
        rows={Math.min(24, Math.max(6, form.value.split('\n').length + 1))}
        value={form.value}
        onInput={(e) => set({ value: e.currentTarget.value })}
        onKeyDown={(e) => {
          if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) (e.preventDefault(), void save(base))
          if (e.key === 'Escape') done()
        }}
      />
      <div class="row fields">
        <Field label={words.tags} hint={text.memories.bulk.commas} value={form.tags} onInput={(e) => set({ tags: e.currentTarget.value })} />
        <Field label={words.type} value={form.type} onInput={(e) => set({ type: e.currentTarget.value })} />
        <Field label={words.importance} hint={words.importanceHint} inputMode="decimal" value={form.importance} onInput={(e) => set({ importance: e.currentTarget.value })} />
        <Field label={words.expires} hint={words.expiresHint} value={form.expires} onInput={(e) => set({ expires: e.currentTarget.value })} />
      </div>
      <div class="row end">
        <Button onClick={done}>{text.dialog.cancel}</Button>
        <Button type="submit" kind="main" disabled={busy}>
          {words.save}
        </Button>
      </div>
    </form>
  )
}

interface ConflictProps {
  mine: Form
  theirs: Memory
  base: Memory
  overwrite: () => void
  take: () => void
  keep: () => void
}

/** Two changes of one version side by side, each as what it changed. */
function Conflict({ mine, theirs, base, overwrite, take, keep }: ConflictProps) {
  const made = read(mine, base)
  return (
    <section class="conflict" role="alert" aria-label={words.conflict}>
      <h3>{words.conflict}</h3>
      <p>{words.conflictLead(visible(theirs.agent ?? ''), theirs.version, base.version)}</p>
      <div class="sides">
        <div>
          <h4>{words.yours}</h4>
          {'memory' in made && <Diff before={base.value} after={made.memory.value} />}
        </div>
        <div>
          <h4>{words.theirs}</h4>
          <Diff before={base.value} after={theirs.value} />
        </div>
      </div>
      <div class="row">
        <Button onClick={take}>{words.take}</Button>
        <Button onClick={keep}>{words.keep}</Button>
        <Button kind="danger" onClick={overwrite}>
          {words.overwrite}
        </Button>
      </div>
    </section>
  )
}
