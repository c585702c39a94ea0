import { call } from '../../call'
import { view, where } from '../../view'

/** A turn of a conversation that a client's transcript had: its key is CLIENT/SESSION/MESSAGE. */
export interface Turn {
  key: string
  namespace: string
  value: unknown
  timestamp: string
  type?: string
  truncated?: boolean
  metadata?: { client?: string; session?: string; seq?: number; speaker?: string; ts?: string; folder?: string; git_branch?: string; caption?: string }
}

interface Page {
  results: Turn[]
  total: number
  next?: string
}

const perPage = 50 // what a search answers at most
const enough = 12 // conversations of a page of the list
const most = 8 // pages of turns that are read for it

/** Reads a page of turns, the newest first, or those of one session in the order of their keys. */
export function turns(asked: { query?: string; prefix?: string; namespace?: string; after?: string }, abort: AbortSignal): Promise<Page> {
  const order = asked.query ? {} : { order: asked.prefix ? 'key' : 'newest' }
  return call<Page>('memory_search', { ...where(), namespace: view.namespace.value || '*', tags: ['captured'], k: perPage, verbose: true, ...order, ...asked }, { signal: abort })
}

/** Reads turns, the newest first, until they are of enough conversations or many have been read. */
export async function recent(after: string | undefined, abort: AbortSignal): Promise<{ results: Turn[]; next?: string }> {
  const all: Turn[] = []
  for (let read = 0; ; read++) {
    const page: Page = await turns({ ...(after && { after }) }, abort)
    all.push(...page.results)
    after = page.next
    if (after === undefined) return { results: all }
    if (read + 1 === most || grouped(all).length > enough) return { results: all, next: after }
  }
}

/** Reads all turns of a session, in the order in which they were said. */
export async function conversation(namespace: string, prefix: string, abort: AbortSignal): Promise<Turn[]> {
  const all: Turn[] = []
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: Page = await turns({ prefix, namespace, ...(after && { after }) }, abort)
    all.push(...page.results)
    after = page.next
  }
  return all.sort((a, b) => when(a) - when(b) || (a.metadata?.seq ?? 0) - (b.metadata?.seq ?? 0))
}

/** When a turn was said, in ms. */
export function when(t: Turn): number {
  const said = Date.parse(t.metadata?.ts ?? '')
  return Number.isNaN(said) ? Date.parse(t.timestamp) : said
}

/** A conversation, as far as its turns were read. */
export interface Conversation {
  client: string
  session: string
  namespace: string
  folder: string
  last: number // ms
  turns: number
  begins: string // what the user said first, of what was read
}

/** The conversations that turns belong to, that with the newest turn first. */
export function grouped(all: Turn[]): Conversation[] {
  const found = new Map<string, Conversation & { first: number }>()
  for (const t of all) {
    const [client = '', session = ''] = t.key.split('/')
    const id = t.namespace + '\n' + client + '\n' + session
    const c = found.get(id) ?? { client, session, namespace: t.namespace, folder: t.metadata?.folder ?? '', last: 0, turns: 0, begins: '', first: Infinity }
    const at = when(t)
    c.turns++
    c.last = Math.max(c.last, at)
    if (t.metadata?.speaker === 'user' && at < c.first && typeof t.value === 'string') Object.assign(c, { first: at, begins: t.value })
    found.set(id, c)
  }
  return [...found.values()].sort((a, b) => b.last - a.last)
}
