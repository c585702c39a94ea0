import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { write, written } from '../../call'
import { failed, useLoad } from '../../load'
import { usePages } from '../../pages'
import { ask as confirm, Button, Loaded, Note, Select, tell } from '../../parts'
import { visible } from '../../parts/value'
import * as text from '../../text'
import { view } from '../../view'
import { Approval } from './approval'
import { Clash } from './clash'
import { Differences } from './difference'
import { ask, idOf, proposer, strategies, type Merged, type Resolution, type Strategy } from './model'

const t = text.branches

interface Props {
  source: string
  target: string
  mayWrite: boolean
  /** What chooses the target. */
  choice?: ComponentChildren
  /** Is called once a proposal is approved or rejected, and gone. */
  onDecided: () => void
}

/** What a merge would do, and how its clashes are settled. */
export function MergePage({ source, target, mayWrite, choice, onDecided }: Props) {
  const [strategy, setStrategy] = useState<Strategy>('strict')
  const [settled, settle] = useState<Record<string, Resolution>>({})
  const within = view.namespace.value
  const request = { action: 'merge', source, target, strategy, resolutions: Object.values(settled), ...(within && { namespace: within }) }
  const preview = useLoad((abort) => ask<Merged>({ ...request, preview: true }, abort), [JSON.stringify(request), written.value], 200)
  const merge = async (m: Merged) => {
    const yes = await confirm({ title: t.mergeTitle(visible(source), visible(target)), will: <p>{t.mergeWill(m.applied, visible(target))}</p>, go: t.merge })
    if (!yes) return
    try {
      const done = await write<Merged>('memory_branch', { ...request, ...(m.seen && { seen: m.seen }) }, { branch: '' })
      settle({})
      tell(done.summary, { bad: !done.merged && !done.unchanged })
    } catch (e) {
      tell(failed(e).message, { bad: true })
    }
  }
  const go = (m: Merged) =>
    mayWrite && (
      <p>
        <Button kind="main" disabled={!!m.unresolved || m.unchanged || preview.busy} onClick={() => void merge(m)}>
          {t.mergeGo(visible(source), visible(target))}
        </Button>
      </p>
    )
  return (
    <>
      <div class="row">
        {choice}
        <Select label={t.strategy} value={strategy} choices={strategies.map((s) => [s, t.strategies[s](visible(source), visible(target))])} onChoose={(v) => setStrategy(v as Strategy)} />
      </div>
      <Loaded of={preview}>
        {(m) => (
          <>
            <Note tone={m.unresolved ? 'warn' : ''}>{m.unresolved ? t.unresolved(m.unresolved) : m.unchanged ? t.nothing : t.would(m.applied, visible(target))}</Note>
            {m.note && !m.next && <Note>{m.note}</Note>}
            {proposer(source) ? (
              <Approval branch={source} namespaces={namespacesOf(m)} mayDecide={mayWrite} onDecided={onDecided}>
                {go(m)}
              </Approval>
            ) : (
              go(m)
            )}
            <Lists first={m} request={{ ...request, preview: true }} source={source} target={target} strategy={strategy} settled={settled} settle={settle} />
          </>
        )}
      </Loaded>
    </>
  )
}

interface ListsProps {
  first: Merged
  request: object
  source: string
  target: string
  strategy: Strategy
  settled: Record<string, Resolution>
  settle: (change: (was: Record<string, Resolution>) => Record<string, Resolution>) => void
}

/** What clashes, and what would change, page by page. */
function Lists({ first, request, source, target, strategy, settled, settle }: ListsProps) {
  const { pages, more } = usePages(first, (after) => ask<Merged>({ ...request, after }))
  const clashes = pages.flatMap((p) => p.clashes ?? [])
  const differences = pages.flatMap((p) => p.differences)
  return (
    <>
      {clashes.length > 0 && (
        <section>
          <h2>{t.clashes(clashes.length)}</h2>
          <ul class="list">
            {clashes.map((d) => (
              <li key={idOf(d)} class="difference">
                <Clash of={d} source={source} target={target} strategy={strategy} settled={settled[idOf(d)]} settle={(r) => settle((was) => without(was, idOf(d), r))} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {differences.length > 0 && (
        <section>
          <h2>{t.brings(visible(target))}</h2>
          <Differences list={differences} source={source} target={target} />
        </section>
      )}
      {more && <Button onClick={() => void more()}>{t.moreDifferences}</Button>}
    </>
  )
}

const namespacesOf = (m: Merged) => [...new Set([...m.differences, ...(m.clashes ?? [])].map((d) => d.namespace ?? ''))]

/** The resolutions with that of one key replaced, or removed. */
function without(all: Record<string, Resolution>, id: string, r: Resolution | undefined): Record<string, Resolution> {
  const { [id]: _, ...rest } = all
  return r ? { ...rest, [id]: r } : rest
}
