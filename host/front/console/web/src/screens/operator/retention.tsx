import { useState } from 'preact/hooks'
import { act, look } from '../../api'
import { call, written } from '../../call'
import { attempt, mayAct } from '../../deed'
import { amount } from '../../figures'
import { useLoad } from '../../load'
import { ask, Button, Copy, Field, Loaded, Note, Plain, Scroll, Select, tell } from '../../parts'
import * as text from '../../text'

const t = text.operator.retention
const day = 86_400 // s

interface Rule {
  keep_s?: number
  forever?: boolean
  versions?: number
}

interface Policy {
  keep_s?: number
  versions?: number
  branches_s?: Record<string, number>
  namespaces?: Record<string, Rule>
}

interface Preview {
  trimmed: { branch: string; from: string; versions: number; memories: number; more?: boolean }[]
  deleted: string[]
  failed: { branch?: string; namespace?: string; error: string }[]
}

/** How much of the past stays: the rules for all, for branches and for namespaces, and what they would remove. */
export function Retention() {
  const policy = useLoad((abort) => look<Policy>('retention', {}, abort), [written.value])
  return (
    <>
      <p class="quiet">{t.lead}</p>
      <Loaded of={policy}>
        {(p) => (
          <>
            <Rules of={p} />
            {mayAct() && <Change key={JSON.stringify(p)} of={p} />}
            <Goes of={p} />
          </>
        )}
      </Loaded>
      <p class="quiet below">{t.more}</p>
      <Copy command="alcove retention preview" />
    </>
  )
}

const time = (seconds: number | undefined) => (seconds ? t.time(seconds / day) : t.forever)

function Rules({ of: p }: { of: Policy }) {
  const rows: { for: string; name?: string; keeps: string; without?: Policy }[] = [{ for: t.all, keeps: [time(p.keep_s), p.versions && t.newest(p.versions)].filter(Boolean).join('; ') }]
  for (const [name, seconds] of Object.entries(p.branches_s ?? {})) rows.push({ for: t.branch, name, keeps: time(seconds), without: { ...p, branches_s: less(p.branches_s, name) } })
  for (const [name, r] of Object.entries(p.namespaces ?? {}))
    rows.push({ for: t.namespace, name, keeps: [r.forever ? t.forever : r.keep_s && time(r.keep_s), r.versions && t.newest(r.versions)].filter(Boolean).join('; ') || t.nothingMore, without: { ...p, namespaces: less(p.namespaces, name) } })
  return (
    <Scroll label={t.rules}>
      <table>
        <thead>
          <tr>
            <th>{t.for}</th>
            <th>{t.keeps}</th>
            {mayAct() && (
              <th>
                <span class="unseen">{t.remove}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={r.for + '\n' + r.name}>
              <td>
                {r.for} {r.name !== undefined && <Plain>{r.name}</Plain>}
              </td>
              <td>{r.keeps}</td>
              {mayAct() && <td>{r.without && <Button onClick={() => void set(r.without!, t.removeIt(`${r.for} ${r.name}`), t.remove)}>{t.remove}</Button>}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

const less = <T,>(all: Record<string, T> | undefined, name: string): Record<string, T> => Object.fromEntries(Object.entries(all ?? {}).filter(([n]) => n !== name))

/** Sets a policy once it was said what it would remove. */
async function set(p: Policy, title: string, go: string): Promise<void> {
  let would: Preview
  try {
    would = await look<Preview>('retention-preview', p)
  } catch (e) {
    tell(e instanceof Error ? e.message : String(e), { bad: true })
    return
  }
  const nothing = would.trimmed.length + would.deleted.length === 0
  const will = nothing ? (
    t.nothingGoes
  ) : (
    <>
      <p>{t.goes}</p>
      <Lines of={would} />
      <p>{t.backups}</p>
    </>
  )
  if (await ask({ title, will, go, danger: !nothing })) await attempt(() => act('set-retention', p), t.holds)
}

function Lines({ of: p }: { of: Preview }) {
  return (
    <ul>
      {p.trimmed.map((b) => (
        <li key={b.branch}>
          <Plain>{t.trims(b.branch, amount(b.versions), !!b.more, b.memories, new Date(b.from).toLocaleString())}</Plain>
        </li>
      ))}
      {p.deleted.map((name, i) => (
        <li key={name + i}>
          <Plain>{t.ends(name)}</Plain>
        </li>
      ))}
      {p.failed.map((f) => (
        <li key={f.error} class="failed">
          <Plain>{f.error}</Plain>
        </li>
      ))}
    </ul>
  )
}

type Of = 'all' | 'branch' | 'namespace'

/** A form for one rule. */
function Change({ of: p }: { of: Policy }) {
  const [of, setOf] = useState<Of>('all')
  const [name, setName] = useState('')
  const [days, setDays] = useState(String((p.keep_s ?? 0) / day))
  const [versions, setVersions] = useState(String(p.versions ?? 0))
  const names = useLoad(
    async (abort): Promise<string[]> =>
      of === 'branch'
        ? (await call<{ branches: { name: string }[] }>('memory_branch', { action: 'list' }, { signal: abort })).branches.map((b) => b.name)
        : of === 'namespace'
          ? ((await call<{ namespaces?: { name: string }[] }>('memory_status', { namespaces: true }, { signal: abort })).namespaces ?? []).map((n) => n.name)
          : [],
    [of],
  )
  const keep = Math.round(Number(days) * day)
  const next = (): Policy => {
    if (of === 'branch') return { ...p, branches_s: { ...p.branches_s, [name]: keep } }
    if (of === 'namespace') return { ...p, namespaces: { ...p.namespaces, [name]: { ...(keep ? { keep_s: keep } : { forever: true }), versions: Number(versions) } } }
    return { ...p, keep_s: keep, versions: Number(versions) }
  }
  const save = (e: Event) => {
    e.preventDefault()
    void set(next(), t.setIt(of === 'all' ? t.all : `${t[of]} ${name}`), t.save)
  }
  return (
    <section class="below">
      <h2>{t.change}</h2>
      <form class="row fields" onSubmit={save}>
        <Select label={t.for} value={of} onChoose={(v) => setOf(v as Of)} choices={[['all', t.all], ['branch', t.oneBranch], ['namespace', t.oneNamespace]]} />
        {of !== 'all' && (
          <>
            <Field label={t[of]} required list="retention-names" value={name} onInput={(e) => setName(e.currentTarget.value)} />
            <datalist id="retention-names">
              {names.value?.map((n) => (
                <option key={n} value={n} />
              ))}
            </datalist>
          </>
        )}
        <Field label={t.days} hint={t.daysHint} type="number" min="0" step="any" required value={days} onInput={(e) => setDays(e.currentTarget.value)} />
        {of !== 'branch' && <Field label={t.versions} hint={t.versionsHint} type="number" min="0" required value={versions} onInput={(e) => setVersions(e.currentTarget.value)} />}
        <Button type="submit" class="beside">
          {t.show}
        </Button>
      </form>
    </section>
  )
}

/** What an application of the policy would remove now. */
function Goes({ of }: { of: Policy }) {
  const preview = useLoad((abort) => look<Preview>('retention-preview', of, abort), [JSON.stringify(of), written.value])
  const apply = async (p: Preview) => {
    if (!(await ask({ title: t.applyIt, will: <Lines of={p} />, go: t.apply, danger: true }))) return
    await attempt(async () => {
      const done = await act<{ trimmed: Record<string, string>; failed: { error: string }[] | null }>('retain')
      tell(done.failed?.[0]?.error ?? t.applied(Object.keys(done.trimmed ?? {}).length), { bad: !!done.failed?.length })
    })
  }
  return (
    <section class="below">
      <h2>{t.next}</h2>
      <Loaded of={preview}>
        {(p) =>
          p.trimmed.length + p.deleted.length + p.failed.length === 0 ? (
            <p>{t.nothing}</p>
          ) : (
            <>
              <Note tone="warn">
                <Lines of={p} />
              </Note>
              {mayAct() && <Button onClick={() => void apply(p)}>{t.apply}</Button>}
            </>
          )
        }
      </Loaded>
    </section>
  )
}
