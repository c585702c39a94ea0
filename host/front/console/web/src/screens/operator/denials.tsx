import { look } from '../../api'
import { useLoad, useTick } from '../../load'
import { Empty, Loaded, Moment, Plain, Scroll, Select } from '../../parts'
import { keep, route, to } from '../../route'
import { text } from '../../text'
import type { Entry, Page } from './audit'
import { from, spans } from './spans'

const t = text.operator.denials

interface Denied {
  who: string
  op: string
  rule: string
  count: number
  last: string
  agents: Set<string>
  family: string
}

/** What families and clients were refused lately, by the rule that refused it. */
export function Denials() {
  const since = route.value.query.get('since') ?? ''
  const tick = useTick(5000)
  const page = useLoad((abort) => look<Page>('audit', { denied: true, limit: 500, ...from(since) }, abort), [since, tick])
  return (
    <>
      <p class="quiet">{t.lead}</p>
      <div class="row above">
        <Select label={text.operator.audit.since} value={since} onChoose={(v) => keep({ since: v })} choices={spans} />
      </div>
      <Loaded of={page}>
        {({ entries }) => {
          const list = grouped(entries)
          if (list.length === 0) return <Empty title={t.none} hint={t.noneHint} />
          return (
            <Scroll label={text.operator.tabs.denials}>
              <table>
                <thead>
                  <tr>
                    <th>{t.who}</th>
                    <th>{t.op}</th>
                    <th>{t.rule}</th>
                    <th class="number">{t.count}</th>
                    <th>{t.last}</th>
                    <th>{t.agents}</th>
                  </tr>
                </thead>
                <tbody>
                  {list.map((d) => (
                    <tr key={d.who + '\n' + d.op + '\n' + d.rule}>
                      <td>
                        {d.family ? (
                          <a href={to(['families', d.family], { tab: 'powers' })}>
                            <Plain>{d.family}</Plain>
                          </a>
                        ) : (
                          t.client
                        )}
                      </td>
                      <td>
                        <Plain>{d.op}</Plain>
                      </td>
                      <td>
                        <Plain>{d.rule}</Plain>
                      </td>
                      <td class="number">{d.count}</td>
                      <td>
                        <Moment at={d.last} />
                      </td>
                      <td>
                        <Plain>{[...d.agents].slice(0, 5).join(', ')}</Plain>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )
        }}
      </Loaded>
    </>
  )
}

/** Denials for the same reason together. Entries come newest first. */
function grouped(entries: Entry[]): Denied[] {
  const all = new Map<string, Denied>()
  for (const e of entries) {
    const list = e.kind === 'refused' ? [{ op: t.load, rule: e.detail ?? '', count: 1 }] : (e.denied ?? [])
    for (const d of list) {
      const id = [e.family, d.op, d.rule].join('\n')
      const known = all.get(id) ?? { who: e.family ?? '', family: e.family ?? '', op: d.op, rule: d.rule, count: 0, last: e.time, agents: new Set<string>() }
      known.count += d.count
      if (e.agent || e.key) known.agents.add(e.agent || e.key || '')
      all.set(id, known)
    }
  }
  return [...all.values()].sort((a, b) => b.last.localeCompare(a.last))
}
