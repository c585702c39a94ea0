import { written } from '../../call'
import { useLoad } from '../../load'
import { Empty, Loaded, Select } from '../../parts'
import { keep, route } from '../../route'
import * as text from '../../text'
import { view } from '../../view'
import { Changes } from './changes'
import { timeline, type Timeline } from './model'
import { Slider } from './slider'
import './style.css'

const t = text.time

/** The space's life: a moment that all screens then show, and what changed up to it. */
export function Screen() {
  const span = route.value.query.get('span') ?? ''
  const since = route.value.query.get('since') ?? ''
  const line = useLoad((abort) => timeline(span, abort), [span, view.branch.value, view.namespace.value, view.moment.value, written.value])
  const remember = (q: { span?: string; since?: string }) => keep({ span, since, ...q })
  return (
    <div class="time">
      <h1>{text.nav.time}</h1>
      <Loaded of={line}>
        {(l) => (l.changes === 0 && !span ? <Empty title={t.emptyTitle} hint={t.emptyHint} command="alcove store greeting hello" /> : <Life line={l} span={span} since={since} remember={remember} />)}
      </Loaded>
    </div>
  )
}

function Life({ line, span, since, remember }: { line: Timeline; span: string; since: string; remember: (q: { span?: string; since?: string }) => void }) {
  const [from, until] = inOrder(since || (span && (line.since?.timestamp ?? '')), view.moment.value, line)
  return (
    <>
      <div class="row">
        <Select label={t.span} value={span} choices={t.spans} onChoose={(v) => remember({ span: v })} />
        <span class="quiet">{t.total(line.changes)}</span>
      </div>
      <Slider line={line} since={since} onSince={(v) => remember({ since: v })} />
      <Changes key={[view.branch.value, view.namespace.value, from, until, written.value].join('\n')} from={from} until={until} />
    </>
  )
}

/** The two moments, the earlier one first. An empty one is the beginning, or now. */
function inOrder(since: string, moment: string, line: Timeline): [string, string] {
  const backwards = moment !== '' && since !== '' && Date.parse(since) > Date.parse(line.at?.timestamp ?? '')
  return backwards ? [moment, since] : [since, moment]
}
