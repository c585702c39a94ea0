import { useState } from 'preact/hooks'
import { Button, Field, Plain, Problem } from '../../parts'
import * as text from '../../text'
import type { Asked, Facet } from './query'
import { useCounts, type Counted } from './search'

const words = text.memories
const shownAtFirst = 8

type Set = (part: Partial<Asked>) => void

/** The panel of facets, each value with how many it would leave. */
export function Facets({ asked, set, open }: { asked: Asked; set: Set; open: boolean }) {
  const counts = useCounts(asked)
  const c = counts.value ?? {}
  return (
    <aside id="facets" class={open ? 'facets open' : 'facets'} aria-label={words.filters} aria-busy={counts.busy}>
      {counts.failure && <Problem failure={counts.failure} again={counts.again} />}
      <Group facet="namespace" title={words.facets.namespace} counted={c} asked={asked} set={set} />
      <Group facet="type" title={words.facets.type} counted={c} asked={asked} set={set} />
      <Group facet="tags" title={words.facets.tags} counted={c} asked={asked} set={set} />
      <Group facet="agent" title={words.facets.agent} counted={c} asked={asked} set={set} only={(v) => !isOrigin(v)} />
      <Group facet="agent" title={words.facets.origin} counted={c} asked={asked} set={set} only={isOrigin} />
      <Group facet="state" title={words.facets.state} counted={c} asked={asked} set={set} />
      <Dates counted={c} asked={asked} set={set} />
    </aside>
  )
}

/** Writers that are no agents: families, imports. */
const isOrigin = (writer: string) => writer.startsWith('family:') || writer === 'import' || writer === 'operator'

function Group({ facet, title, counted, asked, set, only = () => true }: { facet: Facet; title: string; counted: Counted; asked: Asked; set: Set; only?: (value: string) => boolean }) {
  const [all, setAll] = useState(false)
  const chosen = asked[facet]
  const known = (counted[facet]?.values ?? []).filter((v) => only(v.value))
  const missing = chosen.filter((v) => only(v) && !known.some((k) => k.value === v)).map((value) => ({ value, count: 0 }))
  const values = [...missing, ...known].filter((v) => v.value !== '')
  if (values.length === 0) return null
  const shown = all ? values : values.slice(0, shownAtFirst)
  const toggle = (value: string) => set({ [facet]: chosen.includes(value) ? chosen.filter((v) => v !== value) : [...chosen, value] })
  return (
    <fieldset>
      <legend>{title}</legend>
      {shown.map(({ value, count }) => (
        <label key={value} class="facet">
          <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
          <span class="facet-name">
            <Plain>{value}</Plain>
          </span>
          <span class="quiet number">{count.toLocaleString()}</span>
        </label>
      ))}
      {values.length > shownAtFirst && (
        <Button class="small" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? words.fewer : words.others(values.length - shownAtFirst)}
        </Button>
      )}
      {all && (counted[facet]?.more ?? 0) > 0 && <p class="quiet">{words.notShown(counted[facet]!.more!)}</p>}
    </fieldset>
  )
}

/** Spans of time that end now, and any other. */
function Dates({ counted, asked, set }: { counted: Counted; asked: Asked; set: Set }) {
  return (
    <fieldset>
      <legend>{words.facets.dates}</legend>
      {Object.entries(words.spans).map(([since, name]) => (
        <label key={since} class="facet">
          <input type="radio" name="since" checked={asked.since === since && !asked.until} onChange={() => set({ since, until: '' })} />
          <span class="facet-name">{name}</span>
          <span class="quiet number">{counted['dates']?.values.find((v) => v.value === since)?.count.toLocaleString()}</span>
        </label>
      ))}
      <div class="dates">
        <Field type="date" label={words.since} value={day(asked.since)} onChange={(e) => set({ since: e.currentTarget.value })} />
        <Field type="date" label={words.until} value={day(asked.until)} onChange={(e) => set({ until: e.currentTarget.value })} />
      </div>
    </fieldset>
  )
}

const day = (s: string) => (/^\d{4}-\d\d-\d\d$/.test(s) ? s : '')
