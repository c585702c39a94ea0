import { useId, useState } from 'preact/hooks'
import { Note, Plain, Value } from '../../parts'
import { written } from '../../parts/diff'
import { visible } from '../../parts/value'
import * as text from '../../text'
import { Heading } from './difference'
import type { Difference, Resolution, Strategy } from './model'

const t = text.branches
type Way = '' | 'source' | 'target' | 'delete' | 'fields' | 'value'

interface Props {
  of: Difference
  source: string
  target: string
  strategy: Strategy
  settled: Resolution | undefined
  settle: (r: Resolution | undefined) => void
}

/** A key that both sides changed: what each has, and what the merge takes. */
export function Clash({ of, source, target, strategy, settled, settle }: Props) {
  const id = useId()
  const [way, setWay] = useState<Way>(settled?.take ?? '')
  const resolve = (take: Resolution['take'], value?: unknown) => settle({ namespace: of.namespace ?? '', key: of.key, take, ...(value !== undefined && { value }) })
  const fields = objects(of)
  const choose = (w: Way) => {
    setWay(w)
    if (w === '') settle(undefined)
    else if (w === 'fields') resolve('value', fields!.target)
    else if (w === 'value') resolve('value', of.source?.value ?? of.target?.value ?? '')
    else resolve(w)
  }
  const ways: [Way, string][] = [
    ['', strategy === 'strict' ? t.take.open : t.take.strategy],
    ['source', t.take.side(visible(source))],
    ['target', t.take.side(visible(target))],
    ...(fields ? [['fields', t.take.fields] as [Way, string]] : []),
    ['value', t.take.value],
    ['delete', t.take.delete],
  ]
  return (
    <>
      <Heading of={of} />
      <div class="sides">
        <Sided name={source} side={of.source} omitted={of.value_omitted} />
        <Sided name={target} side={of.target} omitted={of.value_omitted} />
      </div>
      {of.collection ? (
        <Note>{t.recordClash}</Note>
      ) : (
        <fieldset class="settle">
          <legend>{t.settle}</legend>
          {ways.map(([w, name]) => (
            <label key={w}>
              <input type="radio" name={id} checked={way === w} onChange={() => choose(w)} />
              {name}
            </label>
          ))}
          {way === 'fields' && fields && <Fields {...fields} sourceName={source} targetName={target} onChange={(v) => resolve('value', v)} />}
          {way === 'value' && <Own first={of.source?.value ?? of.target?.value ?? ''} onChange={(v) => resolve('value', v)} />}
        </fieldset>
      )}
    </>
  )
}

function Sided({ name, side, omitted }: { name: string; side: Difference['source']; omitted: boolean | undefined }) {
  return (
    <div class="side-of">
      <small>
        <Plain>{name}</Plain>
        {side?.timestamp && ` · ${new Date(side.timestamp).toLocaleString()}`}
      </small>
      {side === undefined ? <p class="quiet">{t.forgotten}</p> : omitted ? <p class="quiet">{t.omitted}</p> : <Value of={side.value} />}
    </div>
  )
}

type Fieldwise = Record<string, unknown>

/** Both sides, if both are objects. */
function objects(d: Difference): { source: Fieldwise; target: Fieldwise } | undefined {
  const source = d.source?.value
  const target = d.target?.value
  return isObject(source) && isObject(target) ? { source, target } : undefined
}

const isObject = (v: unknown): v is Fieldwise => typeof v === 'object' && v !== null && !Array.isArray(v)

/** Takes each field that differs from one side or the other. */
function Fields({ source, target, sourceName, targetName, onChange }: { source: Fieldwise; target: Fieldwise; sourceName: string; targetName: string; onChange: (v: Fieldwise) => void }) {
  const [fromSource, setFromSource] = useState<string[]>([])
  const id = useId()
  const names = [...new Set([...Object.keys(source), ...Object.keys(target)])].filter((n) => JSON.stringify(source[n]) !== JSON.stringify(target[n]))
  const take = (name: string, side: 'source' | 'target') => {
    const chosen = side === 'source' ? [...fromSource, name] : fromSource.filter((n) => n !== name)
    setFromSource(chosen)
    onChange(Object.fromEntries(Object.entries({ ...target, ...pick(source, names) }).flatMap(([n]) => valueOf(n, chosen))))
  }
  const valueOf = (name: string, chosen: string[]): [string, unknown][] => {
    const side = names.includes(name) && chosen.includes(name) ? source : target
    return name in side ? [[name, side[name]]] : []
  }
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>{t.field}</th>
            <th>
              <Plain>{sourceName}</Plain>
            </th>
            <th>
              <Plain>{targetName}</Plain>
            </th>
          </tr>
        </thead>
        <tbody>
          {names.map((name, i) => (
            <tr key={name}>
              <th scope="row">
                <Plain>{name}</Plain>
              </th>
              {(['source', 'target'] as const).map((side) => {
                const of = side === 'source' ? source : target
                return (
                  <td key={side}>
                    <label>
                      <input type="radio" name={id + i} checked={(side === 'source') === fromSource.includes(name)} onChange={() => take(name, side)} />
                      {name in of ? <Value of={of[name]} /> : <span class="quiet">{t.noField}</span>}
                    </label>
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const pick = (from: Fieldwise, names: string[]): Fieldwise => Object.fromEntries(names.filter((n) => n in from).map((n) => [n, from[n]]))

/** A value of the person's own: a text where there was one, otherwise JSON. */
function Own({ first, onChange }: { first: unknown; onChange: (v: unknown) => void }) {
  const isText = typeof first === 'string'
  const [typed, setTyped] = useState(written(first))
  const [wrong, setWrong] = useState(false)
  const type = (v: string) => {
    setTyped(v)
    if (isText) return onChange(v)
    try {
      onChange(JSON.parse(v))
      setWrong(false)
    } catch {
      setWrong(true)
    }
  }
  return (
    <>
      <textarea rows={5} dir="auto" aria-label={t.ownValue} aria-invalid={wrong} value={typed} onInput={(e) => type(e.currentTarget.value)} />
      {wrong && <Note tone="bad">{t.notJSON}</Note>}
    </>
  )
}
