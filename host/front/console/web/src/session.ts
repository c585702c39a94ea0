import { signal } from '@preact/signals'
import { Failure, failureOf } from './failure'

/** Who uses the console, as the server tells it. */
export interface Session {
  operator: boolean
  agent: string
  namespace: string
  read_only: boolean
  locked: boolean
  version: string
  /** Sent with each request, because a cookie alone does not show that the page made it. */
  csrf: string
  /** Namespaces that one may read and write: names, NAME/* and *; !NAME is excepted. */
  rights?: { read: string[]; write: string[] }
}

export type State =
  | { is: 'asking' }
  | { is: 'out'; why?: Failure }
  | { is: 'in'; session: Session }
  | { is: 'gone'; why: Failure }

export const state = signal<State>({ is: 'asking' })

const address = '/console/api/session'

/** Begins with the ticket in the address, if there is one, or with the session that the cookie names. */
export async function begin(): Promise<void> {
  const ticket = new URLSearchParams(location.hash.slice(1)).get('ticket')
  if (!ticket) return ask({ method: 'GET' })
  history.replaceState(null, '', location.pathname + location.search) // it is of no use to whoever sees the address later
  return logIn({ ticket })
}

export function logIn(by: { ticket: string } | { key: string }): Promise<void> {
  return ask({ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(by) })
}

export async function logOut(): Promise<void> {
  const s = current()
  state.value = { is: 'out' }
  if (s) await fetch(address, { method: 'DELETE', headers: { 'Alcove-Console': s.csrf } }).catch(() => {})
}

/** The session, if there is one. */
export function current(): Session | undefined {
  return state.value.is === 'in' ? state.value.session : undefined
}

/** Whether the session permits writing to a namespace; without one, to any. */
export function mayWrite(namespace?: string): boolean {
  const s = current()
  if (!s || s.read_only) return false
  const list = s.rights?.write ?? ['*']
  if (namespace === undefined) return list.some((n) => !n.startsWith('!'))
  const covers = (n: string) => n === '*' || n === namespace || (n.endsWith('/*') && namespace.startsWith(n.slice(0, -1)))
  return list.some(covers) && !list.includes('!' + namespace)
}

/** Is called with failures of requests: one that the session is over ends it. */
export function lost(why: Failure): void {
  if (why.status === 401) state.value = { is: 'out', why }
}

/** Looks whether the session still holds, for what the server does not tell the page why it failed. */
export async function check(): Promise<void> {
  const answer = await fetch(address).catch(() => undefined)
  if (answer && !answer.ok) lost(await failureOf(answer))
}

async function ask(request: RequestInit): Promise<void> {
  try {
    const answer = await fetch(address, request)
    if (answer.ok) {
      state.value = { is: 'in', session: (await answer.json()) as Session }
      return
    }
    const why = await failureOf(answer)
    state.value = { is: 'out', why: request.method === 'GET' ? undefined : why }
  } catch {
    state.value = { is: 'gone', why: Failure.unreachable() }
  }
}
