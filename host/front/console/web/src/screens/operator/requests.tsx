import { look } from '../../api'
import { duration } from '../../figures'
import { useLoad, useTick } from '../../load'
import { Chip, Empty, Field, Loaded, Plain, Select, Value } from '../../parts'
import { keep, route } from '../../route'
import * as text from '../../text'
import { from, spans } from './spans'

const t = text.operator.requests

interface Log {
  logging: boolean
  entries: { time: string; agent?: string; key?: string; client?: string; tool: string; family?: string; namespace: string; branch: string; outcome: string; ms: number; arguments?: unknown; withheld?: string }[]
}

const filters = ['agent', 'tool'] as const

/** Calls of tools, newest first, if the server logs them. */
export function Requests() {
  const query = route.value.query
  const get = (name: string) => query.get(name) ?? ''
  const set = (name: string, value: string) => keep({ ...Object.fromEntries(query), [name]: value })
  const tick = useTick(5000)
  const request = { limit: 200, ...from(get('since')), ...(get('failed') && { failed: true }), ...Object.fromEntries(filters.filter((f) => get(f)).map((f) => [f, get(f)])) }
  const log = useLoad((abort) => look<Log>('requests', request, abort), [query.toString(), tick], 100)
  return (
    <Loaded of={log}>
      {({ logging, entries }) =>
        !logging && entries.length === 0 ? (
          <Empty title={t.off} hint={t.offHint} command="alcove serve --log-requests" />
        ) : (
          <>
            <div class="row above">
              <Select label={t.show} value={get('failed')} onChoose={(v) => set('failed', v)} choices={[['', t.all], ['1', t.failed]]} />
              <Select label={text.operator.audit.since} value={get('since')} onChoose={(v) => set('since', v)} choices={spans} />
              {filters.map((f) => (
                <Field key={f} label={t.filters[f]} value={get(f)} onInput={(e) => set(f, e.currentTarget.value.trim())} />
              ))}
            </div>
            {entries.length === 0 && <Empty title={t.none} hint={t.noneHint} />}
            <ol class="entries">
              {entries.map((e, i) => (
                <li key={e.time + i}>
                  <details>
                    <summary>
                      <time datetime={e.time}>{new Date(e.time).toLocaleString()}</time>{' '}
                      <code>
                        <Plain>{e.tool}</Plain>
                      </code>{' '}
                      {e.outcome !== 'ok' && (
                        <Chip tone="bad">
                          <Plain>{e.outcome}</Plain>
                        </Chip>
                      )}{' '}
                      <span class="quiet">
                        {duration(e.ms)} <Plain>{[e.agent ?? e.key, e.namespace].filter(Boolean).join(' · ')}</Plain>
                      </span>
                    </summary>
                    <Value of={e} />
                  </details>
                </li>
              ))}
            </ol>
          </>
        )
      }
    </Loaded>
  )
}
