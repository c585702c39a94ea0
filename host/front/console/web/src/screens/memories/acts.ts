import { call, write, written } from '../../call'
import type { Failure } from '../../failure'
import { failed } from '../../load'
import { tell } from '../../parts'
import { visible } from '../../parts/value'
import * as text from '../../text'
import { item, recall, type Memory, type Place } from './memory'

const words = text.memories
const mostKeys = 500 // of one call
const atOnce = 6 // calls

/** A memory at a version, which is what an undo brings back. */
export interface At extends Place {
  version: number
}

/** Memories by their namespace, because a call writes to one. */
function byNamespace<T extends Place>(list: T[]): [string, T[]][] {
  const groups = new Map<string, T[]>()
  for (const m of list) groups.set(m.namespace, [...(groups.get(m.namespace) ?? []), m])
  return [...groups]
}

function chunks<T>(list: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
}

/** Does work for each, some at once, and returns the results in order. */
export async function each<T, R>(list: T[], work: (t: T) => Promise<R>): Promise<R[]> {
  const out: R[] = new Array<R>(list.length)
  let next = 0
  const worker = async () => {
    for (let i = next++; i < list.length; i = next++) out[i] = await work(list[i]!)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, worker))
  return out
}

/** Runs what a person asked for, and says if it failed. */
export async function attempt(work: () => Promise<void>): Promise<Failure | undefined> {
  try {
    await work()
    return undefined
  } catch (e) {
    const why = failed(e)
    tell(why.message, { bad: true })
    return why
  }
}

/** The keys that would be forgotten or archived, or were. */
export async function forget(list: Place[], how: { archive: boolean; dryRun?: boolean }): Promise<Place[]> {
  const found: Place[] = []
  for (const [namespace, all] of byNamespace(list))
    for (const some of chunks(all, mostKeys)) {
      const answer = await call<{ count?: number; would?: { forget: string[] } }>(
        'memory_forget',
        { key: some.map((m) => m.key), namespace, ...(how.archive && { archive: true }) },
        how.dryRun ? { dryRun: true } : {},
      )
      if (how.dryRun) found.push(...(answer.would?.forget ?? []).map((key) => ({ namespace, key })))
      else found.push(...some.slice(0, answer.count ?? 0))
    }
  if (!how.dryRun) written.value++
  return found
}

/** Forgets or archives, and offers to take it back. */
export async function forgetAndTell(list: At[], archive: boolean): Promise<void> {
  const done = await forget(list, { archive })
  const name = list.length === 1 ? visible(list[0]!.key) : text.count.memories(done.length)
  tell(archive ? words.done.archived(name) : words.done.forgotten(name), {
    undo: { name: words.undo, do: () => void attempt(() => bringBack(list, archive)) },
  })
}

/** Stores memories as they were at their versions: archived ones become active, forgotten ones are there again. */
async function bringBack(list: At[], archived: boolean): Promise<void> {
  const whole = await each(list, (m) => recall(m, `v${m.version}`))
  await store(
    whole.filter((m) => m !== null),
    archived ? {} : { if_version: 0 },
  )
  tell(words.done.back(text.count.memories(list.length)))
}

/** Stores memories whole. */
export async function store(list: Memory[], more: object = {}): Promise<void> {
  for (const [namespace, all] of byNamespace(list))
    for (const some of chunks(all, 200)) await call('memory_store', { namespace, items: some.map((m) => ({ ...item(m), ...more })) })
  written.value++
}

/** Stores another state of a memory, if nobody changed it meanwhile, and offers the former one. */
export async function change(before: Memory, after: Memory, done: string): Promise<number> {
  const { version } = await write<{ version: number }>('memory_store', { namespace: after.namespace, ...item(after), if_version: before.version })
  tell(done, {
    undo: {
      name: words.undo,
      do: () =>
        void attempt(async () => {
          await write('memory_store', { namespace: before.namespace, ...item(before), if_version: version })
          if (before.state) await forget([before], { archive: true })
          tell(words.done.back(visible(before.key)))
        }),
    },
  })
  return version
}

/** A memory with another pin. */
export function withPin(m: Memory, on: boolean): Memory {
  const { pinned: _, ...rest } = m.metadata ?? {}
  return { ...m, metadata: on ? { ...rest, pinned: true } : rest }
}

/** Where memories would go. taken: there is another memory already. */
export interface Step {
  from: At
  to: Place
  taken: boolean
}

/** Looks where memories would go, and whether the place is free. */
export function planMove(list: At[], target: (p: Place) => Place): Promise<Step[]> {
  return each(list, async (from) => {
    const to = target(from)
    return { from, to, taken: (await recall(to)) !== null }
  })
}

/** Moves memories to places that are free: each is stored there, and then forgotten here. */
export async function move(steps: Step[]): Promise<number> {
  const free = steps.filter((s) => !s.taken)
  for (const [, all] of byNamespace(free.map((s) => ({ ...s, namespace: s.to.namespace, key: s.to.key }))))
    for (const some of chunks(all, 200)) {
      const whole = await each(some, (s) => recall(s.from))
      const items = whole.flatMap((m, i) => (m ? [{ ...item(m), key: some[i]!.to.key, if_version: 0 }] : []))
      await call('memory_store', { namespace: some[0]!.to.namespace, items })
      await forget(some.map((s) => s.from), { archive: false })
    }
  written.value++
  return free.length
}

/** Moves, and offers to move back. */
export async function moveAndTell(steps: Step[]): Promise<void> {
  const n = await move(steps)
  tell(words.done.moved(text.count.memories(n)), {
    undo: {
      name: words.undo,
      do: () =>
        void attempt(async () => {
          const free = steps.filter((s) => !s.taken)
          await bringBack(free.map((s) => s.from), false)
          await forget(free.map((s) => s.to), { archive: false })
        }),
    },
  })
}

/** What a change of tags would do to a memory. */
export interface Tagged {
  memory: Memory
  tags: string[]
  changes: boolean
}

/** Reads memories, and says which tags they would have. */
export async function planTags(list: At[], add: string[], remove: string[]): Promise<Tagged[]> {
  const whole = await each(list, (m) => recall(m))
  return whole.flatMap((memory) => {
    if (!memory) return []
    const had = memory.tags ?? []
    const tags = [...new Set([...had, ...add])].filter((t) => !remove.includes(t))
    return [{ memory, tags, changes: tags.join('\n') !== had.join('\n') }]
  })
}

/** Writes the tags, if nobody changed the memories meanwhile, and offers the former ones. */
export async function tagAndTell(plan: Tagged[]): Promise<void> {
  const some = plan.filter((p) => p.changes)
  for (const [namespace, all] of byNamespace(some.map((p) => ({ ...p, ...p.memory, tags: p.tags }))))
    for (const part of chunks(all, 200))
      await call('memory_store', { namespace, items: part.map((m) => ({ ...item(m), if_version: m.version })) })
  written.value++
  tell(words.done.tagged(text.count.memories(some.length)), {
    undo: { name: words.undo, do: () => void attempt(() => store(some.map((p) => p.memory))) },
  })
}
