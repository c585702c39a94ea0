import { useEffect, useState } from 'preact/hooks'
import { look } from '../../api'
import type { Failure } from '../../failure'
import { amount, duration, short, size } from '../../figures'
import { failed } from '../../load'
import { Empty, Plain, Problem, Scroll } from '../../parts'
import * as text from '../../text'
import { Chart } from './chart'
import { between, gauge, measure, tools, type Metric, type Point } from './measure'

const t = text.operator.metrics
const every = 2000 // ms between two measurements
const kept = 150 // measurements: five minutes

/** What the server counts, as it happens. */
export function Metrics() {
  const [points, setPoints] = useState<Point[]>([])
  const [latest, setLatest] = useState<Metric[]>([])
  const [failure, setFailure] = useState<Failure>()
  useEffect(() => {
    const abort = new AbortController()
    const read = () =>
      document.hidden ||
      look<Metric[]>('metrics', {}, abort.signal).then(
        (list) => {
          setFailure(undefined)
          setLatest(list)
          setPoints((was) => [...was, measure(list, Date.now())].slice(-kept))
        },
        (e: unknown) => abort.signal.aborted || setFailure(failed(e)),
      )
    void read()
    const timer = setInterval(read, every)
    return () => {
      clearInterval(timer)
      abort.abort()
    }
  }, [])
  const rate = (of: keyof Point) => between(points, (a, b, s) => (b[of] - a[of]) / s)
  return (
    <>
      {failure && <Problem failure={failure} />}
      <p class="quiet">{t.lead}</p>
      <div class="grid">
        <Chart name={t.calls} of={rate('calls')} show={(n) => t.perSecond(short(n))} />
        <Chart name={t.took} of={between(points, (a, b) => ((b.seconds - a.seconds) / Math.max(1, b.ended - a.ended)) * 1000)} show={duration} />
        <Chart name={t.errors} of={rate('errors')} show={(n) => t.perSecond(short(n))} />
        <Chart name={t.refusals} of={rate('refusals')} show={(n) => t.perSecond(short(n))} />
        <Chart name={t.guests} of={rate('guests')} show={(n) => t.perSecond(short(n))} />
        <Chart name={t.cpu} of={between(points, (a, b, s) => ((b.cpu - a.cpu) / s) * 100)} show={(n) => `${short(n)} %`} />
        <Chart name={t.memory} of={points.map((p) => p.resident)} show={size} />
        <Chart name={t.goroutines} of={points.map((p) => p.goroutines)} show={amount} />
        <Chart name={t.files} of={points.map((p) => p.files)} show={amount} />
      </div>
      <h2 class="below">{t.tools}</h2>
      <Tools of={latest} />
      {latest.length > 0 && <p class="quiet">{t.up(duration(Date.now() - gauge(latest, 'process_start_time_seconds') * 1000))}</p>}
    </>
  )
}

function Tools({ of }: { of: Metric[] }) {
  const list = tools(of)
  if (of.length > 0 && list.length === 0) return <Empty title={t.none} hint={t.noneHint} />
  return (
    <Scroll label={t.tools}>
      <table>
        <thead>
          <tr>
            <th>{t.tool}</th>
            <th>{t.family}</th>
            <th class="number">{t.count}</th>
            <th class="number">{t.failed}</th>
            <th class="number">{t.mean}</th>
            <th class="number">{t.p95}</th>
          </tr>
        </thead>
        <tbody>
          {list.map((x) => (
            <tr key={x.family + x.tool}>
              <td>
                <code>
                  <Plain>{x.tool}</Plain>
                </code>
              </td>
              <td>
                <Plain>{x.family}</Plain>
              </td>
              <td class="number">{amount(x.calls)}</td>
              <td class={x.errors ? 'number failed' : 'number'}>{amount(x.errors)}</td>
              <td class="number">{duration(x.mean)}</td>
              <td class="number">{Number.isFinite(x.p95) ? '≤ ' + duration(x.p95) : t.longer}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
