import { call, written } from '../../call'
import { attempt } from '../../deed'
import { useLoad } from '../../load'
import { ask, Button, Chip, Diff, Empty, Loaded, Note, Plain, tell, Value } from '../../parts'
import { to, go } from '../../route'
import { mayWrite } from '../../session'
import * as text from '../../text'
import { past, view } from '../../view'
import { each } from '../memories/acts'
import { item, type Memory } from '../memories/memory'
import { Line, titleOf, type Checkpoint } from './checkpoints'

const t = text.sessions
const mostNamed = 10 // keys that a question names

/** A fact of a checkpoint, as it was and as it is. */
interface Fact {
  key: string
  then?: Memory
  now?: Memory
}

interface Opened {
  checkpoint: Checkpoint
  facts: Fact[]
  /** Why the past cannot be read. */
  gone?: string
}

/** What a checkpoint keeps, what became of it, and how to go back. */
export function CheckpointPage({ namespace, id }: { namespace: string; id: string }) {
  const opened = useLoad((abort) => open(namespace, id, abort), [namespace, id, view.branch.value, written.value])
  return (
    <>
      <p>
        <a href={to(['sessions', 'checkpoints'])}>{t.allCheckpoints}</a>
      </p>
      <Loaded of={opened}>{(o) => <Shown of={o} />}</Loaded>
    </>
  )
}

async function open(namespace: string, id: string, abort: AbortSignal): Promise<Opened> {
  const { checkpoints } = await call<{ checkpoints: Checkpoint[] }>('memory_list_checkpoints', { checkpointId: id }, { namespace, signal: abort })
  const checkpoint = { ...checkpoints[0]!, namespace }
  let gone: string | undefined
  const facts = await each(checkpoint.facts ?? [], async ({ key }): Promise<Fact> => {
    const now = await recall(checkpoint, key, '', abort)
    const then = await recall(checkpoint, key, `v${checkpoint.version}`, abort).catch((e: unknown) => {
      gone = e instanceof Error ? e.message : String(e)
      return undefined
    })
    return { key, ...(then && { then }), ...(now && { now }) }
  })
  return { checkpoint, facts, ...(gone && { gone }) }
}

async function recall(c: Checkpoint, key: string, at: string, abort: AbortSignal): Promise<Memory | undefined> {
  const found = await call<Memory & { found: boolean }>('memory_recall', { key, namespace: c.namespace, use: true, ...(at && { as_of: at }) }, { branch: c.branch, signal: abort })
  return found.found ? { ...found, namespace: c.namespace } : undefined
}

function Shown({ of: { checkpoint: c, facts, gone } }: { of: Opened }) {
  const changed = facts.filter((f) => f.then && f.then.version !== f.now?.version)
  const look = () => {
    view.branch.value = c.branch === 'default' ? '' : c.branch
    view.moment.value = `v${c.version}`
    go(to(['memories'], {}))
  }
  return (
    <>
      <h1>
        <Plain>{titleOf(c)}</Plain>
      </h1>
      <Line of={c} />
      {c.unclean && <Note tone="warn">{t.uncleanHint}</Note>}
      {c.summary && c.summary !== titleOf(c) && <Value of={c.summary} />}
      {c.topic && c.topic !== titleOf(c) && (
        <p>
          {t.topic} <Plain>{c.topic}</Plain>
        </p>
      )}
      <div class="row above">
        <Button onClick={look}>{t.lookThen}</Button>
        {!past.value && mayWrite(c.namespace) && changed.length > 0 && (
          <Button kind="main" onClick={() => void restore(c, changed)}>
            {t.restore(changed.length)}
          </Button>
        )}
      </div>
      {gone ? <Note tone="warn">{gone}</Note> : facts.length > 0 && <p>{changed.length === 0 ? t.unchanged : t.changedSince(changed.length, facts.length)}</p>}
      {facts.length === 0 ? (
        <Empty title={t.noFacts} hint={t.noFactsHint} />
      ) : (
        <ul class="list">
          {facts
            .toSorted((a, b) => Number(changed.includes(b)) - Number(changed.includes(a)))
            .map((f) => (
              <li key={f.key}>
                <h2 class="row fact">
                  <a href={to(['memories', c.namespace, f.key])}>
                    <Plain>{f.key}</Plain>
                  </a>
                  {changed.includes(f) && <Chip tone="warn">{f.now ? t.changed : t.forgotten}</Chip>}
                </h2>
                {changed.includes(f) && f.now ? <Diff before={f.then!.value} after={f.now.value} /> : <Value of={(f.then ?? f.now)?.value ?? ''} />}
              </li>
            ))}
        </ul>
      )}
    </>
  )
}

/** Stores facts as they were at a checkpoint, unless somebody changes them meanwhile, and offers what was there before. */
async function restore(c: Checkpoint, facts: Fact[]): Promise<void> {
  const will = (
    <>
      <p>{t.restoreWill(facts.length, new Date(c.at).toLocaleString(), c.branch)}</p>
      <ul>
        {facts.slice(0, mostNamed).map((f) => (
          <li key={f.key}>
            <Plain>{f.key}</Plain>
          </li>
        ))}
        {facts.length > mostNamed && <li>{text.branches.others(facts.length - mostNamed)}</li>}
      </ul>
    </>
  )
  if (!(await ask({ title: t.restoreTitle(titleOf(c)), will, go: t.restoreGo }))) return
  const store = (pairs: { to: Memory; over: number }[]) =>
    call('memory_store', { namespace: c.namespace, items: pairs.map(({ to: m, over }) => ({ ...item(m), if_version: over })) }, { branch: c.branch })
  await attempt(async () => {
    await store(facts.map((f) => ({ to: f.then!, over: f.now?.version ?? 0 })))
    written.value++
    tell(t.restored(facts.length), { undo: { name: text.memories.undo, do: () => void attempt(() => back(c, facts)) } })
  })
}

/** Takes a restoring back: facts are as they were before it, or forgotten again. */
async function back(c: Checkpoint, facts: Fact[]): Promise<void> {
  const had = facts.filter((f) => f.now)
  const lacked = facts.filter((f) => !f.now).map((f) => f.key)
  if (had.length > 0) await call('memory_store', { namespace: c.namespace, items: had.map((f) => item(f.now!)) }, { branch: c.branch })
  if (lacked.length > 0) await call('memory_forget', { namespace: c.namespace, key: lacked }, { branch: c.branch })
  written.value++
  tell(text.memories.done.back(text.count.memories(facts.length)))
}

