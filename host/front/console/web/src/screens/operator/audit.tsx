import { useEffect, useState } from 'preact/hooks'
import { look } from '../../api'
import type { Failure } from '../../failure'
import { amount, duration, short } from '../../figures'
import { failed, useLoad } from '../../load'
import { Button, Chip, Copy, Empty, Field, Loaded, Note, Plain, Problem, Select, Value } from '../../parts'
import { keep, route } from '../../route'
import * as text from '../../text'
import { from, spans } from './spans'

const t = text.operator.audit

export interface Entry {
  seq: number
  time: string
  kind: string
  family?: string
  work?: string
  agent?: string
  key?: string
  call?: string
  namespace?: string
  branch?: string
  outcome?: string
  detail?: string
  version?: number
  of?: number
  fuel?: number
  took_us?: number
  dry_run?: boolean
  denied?: { op: string; rule: string; count: number }[]
}

export interface Page {
  entries: Entry[]
  next?: number
  head: { seq: number; hash: string; time: string }
}

const filters = ['family', 'agent', 'key', 'namespace'] as const
const kinds = ['call', 'wrote', 'granted', 'denied', 'installed', 'removed', 'loaded', 'refused', 'changed', 'undone', 'edited', 'began', 'restored', 'recovered', 'repaired', 'damaged', 'dropped']

/** The audit log, newest first, by what the address filters. */
export function Audit() {
  const query = route.value.query
  const get = (name: string) => query.get(name) ?? ''
  const set = (name: string, value: string) => keep({ ...Object.fromEntries(query), [name]: value })
  const kind = get('kind')
  const request = {
    limit: 100,
    ...(kind && { kinds: [kind] }),
    ...from(get('since')),
    ...Object.fromEntries(filters.filter((f) => get(f)).map((f) => [f, get(f)])),
  }
  return (
    <>
      <Verification />
      <div class="row above">
        <Select label={t.kind} value={kind} onChoose={(v) => set('kind', v)} choices={[['', t.anyKind], ...kinds.map((k): [string, string] => [k, t.kinds[k] ?? k])]} />
        <Select label={t.since} value={get('since')} onChoose={(v) => set('since', v)} choices={spans} />
        {filters.map((f) => (
          <Field key={f} label={t.filters[f]} value={get(f)} onInput={(e) => set(f, e.currentTarget.value.trim())} />
        ))}
      </div>
      <List request={request} by={query.toString()} />
    </>
  )
}

function List({ request, by }: { request: object; by: string }) {
  const first = useLoad((abort) => look<Page>('audit', request, abort), [by], 200)
  const [older, setOlder] = useState<Page[]>([])
  const [failure, setFailure] = useState<Failure>()
  useEffect(() => setOlder([]), [by])
  return (
    <Loaded of={first}>
      {(page) => {
        const pages = [page, ...older]
        const entries = pages.flatMap((p) => p.entries)
        const next = pages.at(-1)!.next
        const more = () => look<Page>('audit', { ...request, before: next }).then((p) => setOlder([...older, p]), (e: unknown) => setFailure(failed(e)))
        if (entries.length === 0 && !next) return <Empty title={t.none} hint={page.head.seq ? t.noneFound : t.noLog} />
        return (
          <>
            <ol class="entries">
              {entries.map((e) => (
                <Row key={e.seq} of={e} />
              ))}
            </ol>
            {failure && <Problem failure={failure} />}
            {next && <Button onClick={() => void more()}>{t.older}</Button>}
          </>
        )
      }}
    </Loaded>
  )
}

function Row({ of: e }: { of: Entry }) {
  const bad = !!e.denied?.length || (e.outcome !== undefined && e.outcome !== 'ok') || ['refused', 'damaged', 'edited', 'denied'].includes(e.kind)
  return (
    <li>
      <details>
        <summary>
          <span class="quiet">{e.seq}</span> <time datetime={e.time}>{new Date(e.time).toLocaleString()}</time> <Chip tone={bad ? 'bad' : ''}>{t.kinds[e.kind] ?? e.kind}</Chip>{' '}
          <Plain>{[e.family, e.work].filter(Boolean).join(' ')}</Plain>{' '}
          {(e.agent || e.key) && (
            <span class="quiet">
              {t.by} <Plain>{e.agent || e.key || ''}</Plain>
            </span>
          )}{' '}
          {e.version !== undefined && <span class="quiet">v{amount(e.version)}</span>} {e.outcome && e.outcome !== 'ok' && <Plain>{e.outcome}</Plain>} {!!e.took_us && <span class="quiet">{duration(e.took_us / 1000)}</span>} {!!e.fuel && <span class="quiet">{t.fuel(short(e.fuel))}</span>}
        </summary>
        <Value of={readable(e)} />
      </details>
      {e.denied?.map((d) => (
        <p key={d.op + d.rule} class="failed">
          {t.denied(d.count)} <Plain>{`${d.op}: ${d.rule}`}</Plain>
        </p>
      ))}
    </li>
  )
}

/** The entry with its detail as a value, where that is JSON: of a grant it has what was granted. */
function readable(e: Entry): object {
  try {
    return { ...e, detail: JSON.parse(e.detail ?? 'null') as unknown }
  } catch {
    return e
  }
}

interface Report {
  files: number
  entries: number
  first: number
  head: { seq: number; hash: string }
  torn?: number
  restored?: object
  problems?: string[]
}

/** Whether the chain of the log is whole, as far as the log itself shows. */
function Verification() {
  const report = useLoad((abort) => look<Report>('audit-verify', {}, abort), [])
  return (
    <Loaded of={report}>
      {(r) => (
        <Note tone={r.problems?.length ? 'bad' : 'good'}>
          <div class="row">
            <span>{r.problems?.length ? t.broken(r.problems.length) : t.whole(r.entries, r.first)}</span>
            <Button onClick={report.again}>{t.verifyAgain}</Button>
          </div>
          {r.problems?.map((p) => (
            <p key={p}>
              <Plain>{p}</Plain>
            </p>
          ))}
          <details>
            <summary>{t.head}</summary>
            <p>{t.headLead}</p>
            <Copy command={`alcove audit verify --head ${r.head.seq}:${r.head.hash}`} />
          </details>
        </Note>
      )}
    </Loaded>
  )
}
