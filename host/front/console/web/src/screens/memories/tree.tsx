import { useState } from 'preact/hooks'
import { Button, Plain, Value } from '../../parts'
import * as text from '../../text'

const openTo = 2 // levels at first
const atOnce = 200 // members of one object or list

/** A value: a text as it is, everything else as a tree whose branches open and close. */
export function Tree({ of }: { of: unknown }) {
  if (typeof of !== 'object' || of === null) return <Value of={of} />
  return (
    <div class="tree json">
      <Node of={of} level={0} />
    </div>
  )
}

function Node({ name, of, level }: { name?: string; of: unknown; level: number }) {
  if (typeof of !== 'object' || of === null)
    return (
      <div class="leaf">
        <Name name={name} />
        <span class={`is-${of === null ? 'null' : typeof of}`}>{typeof of === 'string' ? <Value of={of} /> : String(of)}</span>
      </div>
    )
  const members = Array.isArray(of) ? of.map((v, i): [string, unknown] => [String(i), v]) : Object.entries(of)
  return (
    <details open={level < openTo}>
      <summary>
        <Name name={name} />
        <span class="quiet">{Array.isArray(of) ? text.memories.elements(members.length) : text.memories.members(members.length)}</span>
      </summary>
      <Members members={members} level={level + 1} />
    </details>
  )
}

function Members({ members, level }: { members: [string, unknown][]; level: number }) {
  const [most, setMost] = useState(atOnce)
  return (
    <>
      {members.slice(0, most).map(([name, value]) => (
        <Node key={name} name={name} of={value} level={level} />
      ))}
      {members.length > most && <Button onClick={() => setMost(most + atOnce * 5)}>{text.more}</Button>}
    </>
  )
}

function Name({ name }: { name: string | undefined }) {
  if (name === undefined) return null
  return (
    <span class="name">
      <Plain>{name}</Plain>:{' '}
    </span>
  )
}
