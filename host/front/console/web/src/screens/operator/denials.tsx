import { look } from '../../api'
import { amount } from '../../figures'
import { useLoad, useTick } from '../../load'
import { Empty, Field, Loaded, Moment, Note, Plain, Scroll, Select } from '../../parts'
import { keep, route, to } from '../../route'
import * as text from '../../text'
import { from, spans } from './spans'

const t = text.operator.denials

interface Denied {
  family?: string
  op: string
  rule: string
  count: number
  first: string
  last: string
  agents?: string[]
}

interface Page {
  denials: Denied[]
  left?: number
  next?: number
}

const filters = ['family', 'agent'] as const
const shownAgents = 3

/** What families and clients were refused, by the rule that refused it. */
export function Denials() {
  const query = route.value.query
  const get = (name: string) => query.get(name) ?? ''
  const set = (name: string, value: string) => keep({ ...Object.fromEntries(query), [name]: value })
  const tick = useTick(5000)
  const request = { limit: 200, ...from(get('since')), ...Object.fromEntries(filters.filter((f) => get(f)).map((f) => [f, get(f)])) }
  const page = useLoad((abort) => look<Page>('denials', request, abort), [query.toString(), tick], 100)
  return (
    <>
      <p class="quiet">{t.lead}</p>
      <div class="row above">
        <Select label={text.operator.audit.since} value={get('since')} onChoose={(v) => set('since', v)} choices={spans} />
        {filters.map((f) => (
          <Field key={f} label={text.operator.audit.filters[f]} value={get(f)} onInput={(e) => set(f, e.currentTarget.value.trim())} />
        ))}
      </div>
      <Loaded of={page}>
        {({ denials, left, next }) => {
          if (denials.length === 0) return <Empty title={t.none} hint={t.noneHint} />
          return (
            <>
              <Scroll label={text.operator.tabs.denials}>
                <table>
                  <thead>
                    <tr>
                      <th>{t.who}</th>
                      <th>{t.op}</th>
                      <th>{t.rule}</th>
                      <th class="number">{t.count}</th>
                      <th>{t.first}</th>
                      <th>{t.last}</th>
                      <th>{t.agents}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {denials.map((d) => (
                      <Row key={[d.family, d.op, d.rule].join('\n')} of={d} />
                    ))}
                  </tbody>
                </table>
              </Scroll>
              {!!left && <Note>{t.left(left)}</Note>}
              {!!next && <Note>{t.older}</Note>}
            </>
          )
        }}
      </Loaded>
    </>
  )
}

function Row({ of: d }: { of: Denied }) {
  const agents = d.agents ?? []
  return (
    <tr>
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
      <td class="number">{amount(d.count)}</td>
      <td>
        <Moment at={d.first} />
      </td>
      <td>
        <Moment at={d.last} />
      </td>
      <td title={agents.join(', ')}>
        <Plain>{agents.slice(0, shownAgents).join(', ')}</Plain>
        {agents.length > shownAgents && ` ${t.others(agents.length - shownAgents)}`}
      </td>
    </tr>
  )
}
