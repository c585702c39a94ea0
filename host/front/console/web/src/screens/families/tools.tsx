import { look } from '../../api'
import { amount, duration, short, size } from '../../figures'
import { useLoad, useTick } from '../../load'
import { Loaded, Moment, Plain, Scroll } from '../../parts'
import * as text from '../../text'
import { failures, type Cost, type Info, type Spending, type Stats } from './wire'

const t = text.families.tools
const none: Cost = { requests: 0, classes: {}, fuel: 0, time_ms: 0, slowest_ms: 0, peak_memory_bytes: 0, host_calls: 0 }

/** The tools of a family with what they cost, and its hooks and jobs likewise. */
export function Tools({ family: f }: { family: Info }) {
  const tick = useTick(5000)
  const name = f.manifest.name
  const stats = useLoad((abort) => look<Stats[] | null>('family-stats', { family: name }, abort), [name, tick])
  return (
    <Loaded of={stats}>
      {(list) => {
        const s = list?.[0]
        const tools = f.manifest.tools ?? []
        const others = Object.keys(s?.by ?? {}).filter((what) => !tools.some((tool) => what === 'tool ' + tool.name))
        return (
          <>
            <p class="quiet">{t.lead}</p>
            <Scroll label={t.name}>
              <table>
                <thead>
                  <tr>
                    <th>{t.name}</th>
                    <th class="number">{t.calls}</th>
                    <th class="number">{t.failures}</th>
                    <th class="number">{t.time}</th>
                    <th class="number">{t.slowest}</th>
                    <th class="number">{t.fuel}</th>
                    <th class="number">{t.memory}</th>
                    <th class="number">{t.operations}</th>
                  </tr>
                </thead>
                <tbody>
                  {tools.map((tool) => (
                    <Row key={tool.name} name={tool.name} says={tool.description} cost={s?.by['tool ' + tool.name] ?? none} />
                  ))}
                  {others.map((what) => (
                    <Row key={what} name={what} cost={s!.by[what]!} />
                  ))}
                </tbody>
                {s && (
                  <tfoot>
                    <Row name={t.all} cost={s} />
                  </tfoot>
                )}
              </table>
            </Scroll>
            <Budgets spent={f.use.spent ?? []} />
          </>
        )
      }}
    </Loaded>
  )
}

function Row({ name, says, cost: c }: { name: string; says?: string; cost: Cost }) {
  const failed = failures(c)
  const how = Object.entries(c.classes).filter(([n]) => n !== 'ok').map(([n, count]) => `${n} ×${count}`)
  return (
    <tr>
      <td>
        <code>
          <Plain>{name}</Plain>
        </code>
        {says && (
          <div class="quiet">
            <Plain>{says}</Plain>
          </div>
        )}
      </td>
      <td class="number">{amount(c.requests)}</td>
      <td class={failed ? 'number failed' : 'number'} title={how.join(', ')}>
        {amount(failed)}
      </td>
      <td class="number">{c.requests ? duration(c.time_ms / c.requests) : '–'}</td>
      <td class="number">{c.requests ? duration(c.slowest_ms) : '–'}</td>
      <td class="number">{short(c.fuel)}</td>
      <td class="number">{c.peak_memory_bytes ? size(c.peak_memory_bytes) : '–'}</td>
      <td class="number">{short(c.host_calls)}</td>
    </tr>
  )
}

function Budgets({ spent }: { spent: Spending[] }) {
  return (
    <section class="below">
      <h2>{t.budgets}</h2>
      {spent.length === 0 && <p class="quiet">{t.noBudgets}</p>}
      {spent.map((b) => (
        <p key={b.budget}>
          {text.families.limits.means[b.budget] ?? b.budget}: <meter min={0} max={b.most} high={b.most * 0.8} value={b.spent} /> {text.families.of(amount(b.spent), amount(b.most))}, {t.until} <Moment at={b.until} />
        </p>
      ))}
    </section>
  )
}
