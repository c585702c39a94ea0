import { effect } from '@preact/signals'
import { useState, type StateUpdater, type Dispatch } from 'preact/hooks'
import { written } from '../call'
import { Button, Chip, Empty, Note, Plain } from '../parts'
import { visible } from '../parts/value'
import { Differences } from '../screens/branches/difference'
import { MergePage } from '../screens/branches/merge'
import { idOf, root, type Branch, type Compared, type Difference, type Merged } from '../screens/branches/model'
import { remove } from '../screens/branches/remove'
import '../screens/branches/style.css'
import * as text from '../text'
import { callable, inform } from './host'
import { start } from './start'

const t = text.branches

/** A pair of branches, of which one may be merged into the other. */
interface Pair {
  source: string
  target: string
}

interface Pending {
  branch: string
  by?: string
  reason?: string
}

type Open = Dispatch<StateUpdater<Pair | undefined>>

/** What memory_branch or memory_pending_list answered, or the pair of branches that a person chose from it. */
function Branches({ answer, asked }: { answer: Record<string, unknown>; asked: Record<string, unknown> }) {
  const [pair, open] = useState<Pair>()
  if (pair)
    return (
      <>
        <Button onClick={() => open(undefined)}>{text.views.back}</Button>
        <Decision pair={pair} onGone={() => open(undefined)} />
      </>
    )
  if (Array.isArray(answer['branches'])) return <List branches={answer['branches'] as Branch[]} onOpen={open} />
  if (Array.isArray(answer['pending'])) return <Waiting list={answer['pending'] as Pending[]} onOpen={open} />
  if (Array.isArray(answer['differences'])) return <Compare answer={answer as unknown as Partial<Compared & Merged> & { differences: Difference[] }} between={pairOf(answer, asked)} onOpen={open} />
  return <Done answer={answer} />
}

/** Which branches an answer compares. */
function pairOf(answer: Record<string, unknown>, asked: Record<string, unknown>): Pair {
  const first = (...names: string[]) => [answer, asked].flatMap((o) => names.map((n) => o[n])).find((v): v is string => typeof v === 'string' && v !== '')
  return { source: first('source', 'compare') ?? '', target: first('target', 'current') ?? root }
}

/** A comparison, or what a merge did or would do. */
function Compare({ answer, between, onOpen }: { answer: Partial<Compared & Merged> & { differences: Difference[] }; between: Pair; onOpen: Open }) {
  const { source, target } = between
  const clashes = answer.clashes ?? []
  return (
    <>
      <Heading {...between} />
      <Note tone={answer.merged ? 'good' : answer.unresolved ? 'warn' : ''}>{visible(answer.summary ?? '')}</Note>
      {!answer.merged && callable.value && source && answer.differences.length + clashes.length > 0 && (
        <p>
          <Button kind="main" onClick={() => onOpen(between)}>
            {text.views.decide}
          </Button>
        </p>
      )}
      {clashes.length > 0 && <h2>{t.clashes(clashes.length)}</h2>}
      <Differences list={clashes} source={source} target={target} />
      <Differences list={answer.differences.filter((d) => !clashes.some((c) => idOf(c) === idOf(d)))} source={source} target={target} />
    </>
  )
}

function Heading({ source, target }: Pair) {
  return (
    <h2 class="row">
      <Plain>{source}</Plain> <span aria-hidden="true">→</span> <span class="unseen">{text.views.into}</span> <Plain>{target}</Plain>
    </h2>
  )
}

/** What a merge would do now, and the buttons that merge, approve or discard. */
function Decision({ pair, onGone }: { pair: Pair; onGone: () => void }) {
  const { source, target } = pair
  return (
    <>
      <Heading {...pair} />
      <MergePage source={source} target={target} mayWrite onDecided={onGone} />
      {source !== root && (
        <p class="below">
          <Button onClick={() => void remove({ name: source, parent: target }, onGone)}>{text.views.discard(visible(source))}</Button>
        </p>
      )}
    </>
  )
}

function List({ branches, onOpen }: { branches: Branch[]; onOpen: Open }) {
  return (
    <ul class="list" aria-label={text.nav.branches}>
      {branches.map((b) => (
        <li key={b.name} class="row">
          <strong>
            <Plain>{b.name}</Plain>
          </strong>
          {b.parent && <span class="quiet">{t.forkOf(visible(b.parent))}</span>}
          {b.name !== root && !b.deleted && callable.value && <Button onClick={() => onOpen({ source: b.name, target: b.parent ?? root })}>{t.differences}</Button>}
          {b.deleted && <Chip>{t.deletedAt}</Chip>}
        </li>
      ))}
    </ul>
  )
}

/** Changes that wait for approval. */
function Waiting({ list, onOpen }: { list: Pending[]; onOpen: Open }) {
  if (list.length === 0) return <Empty title={text.views.noneWaits} />
  return (
    <ul class="list" aria-label={t.waiting}>
      {list.map((p) => (
        <li key={p.branch}>
          <strong>
            <Plain>{p.branch}</Plain>
          </strong>
          {p.by && <p class="quiet">{t.proposedBy(visible(p.by))}</p>}
          {p.reason && <p>{visible(p.reason)}</p>}
          {callable.value && <Button onClick={() => onOpen({ source: p.branch, target: root })}>{t.proposes}</Button>}
        </li>
      ))}
    </ul>
  )
}

/** What forking, switching or deleting did. */
function Done({ answer }: { answer: Record<string, unknown> }) {
  return (
    <dl class="facts">
      {Object.entries(answer).map(([name, value]) => (
        <>
          <dt>
            <Plain>{name}</Plain>
          </dt>
          <dd>{visible(typeof value === 'string' ? value : JSON.stringify(value))}</dd>
        </>
      ))}
    </dl>
  )
}

// The model is to know that what it saw is no longer so.
effect(() => {
  if (written.value > 0) inform(text.views.changed)
})

start('branch', (answer, asked) => <Branches answer={answer} asked={asked} />)
