import { call } from '../../call'
import { failed } from '../../load'
import { Button, Chip, Diff, Note, Plain, Problem } from '../../parts'
import type { Failure } from '../../failure'
import { visible } from '../../parts/value'
import * as text from '../../text'
import { useState } from 'preact/hooks'
import { idOf, type Difference } from './model'

const t = text.branches
const tones: Record<Difference['change'], string> = { added: 'good', changed: '', removed: 'bad', deleted: 'bad' }

/** Keys that differ, with what changed in their values. */
export function Differences({ list, source, target }: { list: Difference[]; source: string; target: string }) {
  if (list.length === 0) return null
  return (
    <ul class="list">
      {list.map((d) => (
        <li key={idOf(d)} class="difference">
          <Heading of={d} />
          <Change of={d} source={source} target={target} />
        </li>
      ))}
    </ul>
  )
}

export function Heading({ of }: { of: Difference }) {
  return (
    <h3>
      {of.clash ? <Chip tone="bad">{t.clash}</Chip> : <Chip tone={tones[of.change]}>{t.change[of.change]}</Chip>}
      <Plain>{of.key}</Plain>
      {of.namespace && (
        <small>
          <Plain>{of.namespace}</Plain>
        </small>
      )}
      {of.collection && <Chip>{visible(of.collection)}</Chip>}
    </h3>
  )
}

/** What the target's value becomes. */
function Change({ of, source, target }: { of: Difference; source: string; target: string }) {
  const [whole, setWhole] = useState<{ before: unknown; after: unknown }>()
  const [failure, fail] = useState<Failure>()
  if (whole) return <Diff {...whole} />
  if (of.value_omitted) {
    if (of.collection) return <Note>{t.omitted}</Note>
    const fetch = () => both(of, source, target).then(setWhole, (e: unknown) => fail(failed(e)))
    return (
      <>
        {failure && <Problem failure={failure} />}
        <Note>
          {t.omitted} <Button onClick={() => void fetch()}>{t.showValues}</Button>
        </Note>
      </>
    )
  }
  const after = of.result ?? (of.change === 'deleted' ? undefined : of.source)
  return <Diff before={of.target?.value} after={after?.value} />
}

async function both(d: Difference, source: string, target: string): Promise<{ before: unknown; after: unknown }> {
  const recall = async (branch: string, has: boolean) =>
    has ? (await call<{ value?: unknown }>('memory_recall', { key: d.key, verbose: true, ...(d.namespace && { namespace: d.namespace }) }, { branch })).value : undefined
  const [before, after] = await Promise.all([recall(target, d.target !== undefined), recall(source, d.source !== undefined)])
  return { before, after }
}
