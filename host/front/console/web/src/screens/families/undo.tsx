import { useState } from 'preact/hooks'
import { act, look } from '../../api'
import { attempt, mayAct } from '../../deed'
import { useLoad } from '../../load'
import { Button, Empty, Loaded, Plain, Scroll, Select, ask, tell } from '../../parts'
import { to } from '../../route'
import * as text from '../../text'

const t = text.families.undo
const hour = 3_600_000 // ms
const spans = { hour, day: 24 * hour, week: 7 * 24 * hour, month: 30 * 24 * hour }
type Span = keyof typeof spans

interface Reversal {
  branch?: string
  namespace: string
  collection?: string
  key: string
  written: number
  deletes?: boolean
  why?: string
}

interface Undone {
  undo?: string
  commits: number
  reverted: Reversal[] | null
  kept: Reversal[] | null
  left: string[] | null
}

/** Takes back what a family wrote in a time, after it was shown. */
export function Undo({ name }: { name: string }) {
  const [span, setSpan] = useState<Span>('day')
  const [now, setNow] = useState(Date.now())
  const request = { family: name, since: new Date(now - spans[span]).toISOString() }
  const preview = useLoad((abort) => look<Undone>('family-undo', request, abort), [name, span, now])
  const apply = async (u: Undone) => {
    const count = u.reverted?.length ?? 0
    if (!(await ask({ title: t.title(name), will: t.will(count, u.kept?.length ?? 0), go: t.go, danger: true }))) return
    await attempt(async () => {
      const done = await act<Undone>('family-undo', { ...request, apply: true })
      tell(t.done(done.reverted?.length ?? 0), done.undo ? { undo: { name: t.again, do: () => void attempt(() => act('family-undo', { call: done.undo, apply: true }), t.restored) } } : {})
    })
    setNow(Date.now())
  }
  return (
    <>
      <p class="quiet">{t.lead}</p>
      <div class="row above">
        <Select label={t.since} value={span} onChoose={(v) => (setSpan(v as Span), setNow(Date.now()))} choices={(Object.keys(spans) as Span[]).map((s) => [s, t.spans[s]])} />
      </div>
      <Loaded of={preview}>
        {(u) =>
          !u.reverted?.length && !u.kept?.length ? (
            <Empty title={t.none} hint={t.noneHint} />
          ) : (
            <>
              {mayAct() && !!u.reverted?.length && (
                <p>
                  <Button kind="danger" onClick={() => void apply(u)}>
                    {t.take(u.reverted.length)}
                  </Button>
                </p>
              )}
              <Entries title={t.back} of={u.reverted ?? []} />
              <Entries title={t.kept} of={u.kept ?? []} />
              {!!u.left?.length && (
                <>
                  <h2 class="below">{t.left}</h2>
                  <ul>
                    {u.left.map((line) => (
                      <li key={line}>
                        <Plain>{line}</Plain>
                      </li>
                    ))}
                  </ul>
                </>
              )}
            </>
          )
        }
      </Loaded>
    </>
  )
}

const shown = 200

function Entries({ title, of }: { title: string; of: Reversal[] }) {
  if (of.length === 0) return null
  return (
    <section class="below">
      <h2>
        {title} ({of.length})
      </h2>
      <Scroll label={title}>
        <table>
          <thead>
            <tr>
              <th>{t.key}</th>
              <th>{t.where}</th>
              <th>{t.what}</th>
            </tr>
          </thead>
          <tbody>
            {of.slice(0, shown).map((r) => (
              <tr key={[r.branch, r.namespace, r.collection, r.key].join('\n')}>
                <td>{r.collection ? <Plain>{`${r.collection} ${r.key}`}</Plain> : <a href={to(['memories', r.namespace, r.key])}><Plain>{r.key}</Plain></a>}</td>
                <td>
                  <Plain>{[r.namespace, r.branch].filter(Boolean).join(' · ')}</Plain>
                </td>
                <td>{r.why ? <Plain>{r.why}</Plain> : r.deletes ? t.deletes(r.written) : t.restores(r.written)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {of.length > shown && <p class="quiet">{t.cut(of.length - shown)}</p>}
    </section>
  )
}
