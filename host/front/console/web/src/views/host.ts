import { signal } from '@preact/signals'
import type { CallOptions } from '../call'
import { Failure } from '../failure'
import * as text from '../text'

// The view's side of MCP Apps (SEP-1865): JSON-RPC by messages between this page and the program that shows it.
const revision = '2026-01-26'
const patience = 10_000 // ms for the answer to the first request; those to calls of tools take as long as a person takes to permit them

type Method = (params: Record<string, unknown>) => void

interface Message {
  jsonrpc?: unknown
  id?: unknown
  method?: unknown
  params?: unknown
  result?: unknown
  error?: unknown
}

/** What a tool answered. */
export interface ToolResult {
  content?: { type?: string; text?: string }[]
  structuredContent?: unknown
  isError?: boolean
}

/** The call that the view shows, as far as the host has told of it. */
export type Shown =
  | { is: 'waiting' }
  | { is: 'cancelled' }
  | { is: 'alone' } // nobody answers: the page was opened by itself
  | { is: 'answered'; result: ToolResult }

export const shown = signal<Shown>({ is: 'waiting' })
export const input = signal<Record<string, unknown>>({})
export const tool = signal('') // empty: the host does not say which
/** Whether the host carries out calls for the view. */
export const callable = signal(false)

let canInform = false
let last = 0
const waiting = new Map<number, { resolve: (v: unknown) => void; reject: (e: Error) => void }>()

const post = (message: object) => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*') // the origin of a host is not known; what is sent is its user's own

const notify = (method: string, params: object = {}) => post({ method, params })

function request<T>(method: string, params: object): Promise<T> {
  const id = ++last
  return new Promise<T>((resolve, reject) => {
    waiting.set(id, { resolve: resolve as (v: unknown) => void, reject })
    post({ id, method, params })
  })
}

const object = (v: unknown): Record<string, unknown> => (typeof v === 'object' && v !== null ? (v as Record<string, unknown>) : {})

const told: Record<string, Method> = {
  'ui/notifications/tool-input': (p) => void (input.value = object(p['arguments'])),
  'ui/notifications/tool-result': (p) => void (shown.value = { is: 'answered', result: p as ToolResult }),
  'ui/notifications/tool-cancelled': () => void (shown.value = { is: 'cancelled' }),
  'ui/notifications/host-context-changed': adopt,
}

function receive(e: MessageEvent): void {
  if (e.source !== window.parent) return
  const m = object(e.data) as Message
  if (m.jsonrpc !== '2.0') return
  if (typeof m.method !== 'string') return settle(m)
  if (m.id === undefined) return told[m.method]?.(object(m.params))
  // Nothing has to be kept before the page goes.
  if (m.method === 'ui/resource-teardown' || m.method === 'ping') return post({ id: m.id, result: {} })
  post({ id: m.id, error: { code: -32601, message: `this view does not answer ${m.method}` } })
}

function settle(m: Message): void {
  const asked = waiting.get(m.id as number)
  if (!asked) return
  waiting.delete(m.id as number)
  if (m.error === undefined) return asked.resolve(m.result)
  const why = object(m.error)
  asked.reject(new Failure('unavailable', typeof why['message'] === 'string' ? why['message'] : text.views.refused))
}

/** Takes what the host says of its looks. */
function adopt(context: Record<string, unknown>): void {
  const root = document.documentElement
  const theme = context['theme']
  if (theme === 'light' || theme === 'dark') root.dataset['theme'] = theme
  // Its colours are not taken: some without the others can make text unreadable.
  const variables = object(object(context['styles'])['variables'])
  for (const [ours, theirs] of [['--font', '--font-sans'], ['--mono', '--font-mono']] as const) {
    const font = variables[theirs]
    if (typeof font === 'string' && font) root.style.setProperty(ours, font)
  }
  const name = object(object(context['toolInfo'])['tool'])['name']
  if (typeof name === 'string') tool.value = name
}

/** Begins to talk with the host. What it tells is in the signals. */
export async function connect(name: string): Promise<void> {
  addEventListener('message', receive)
  const alone = setTimeout(() => void (shown.value = { is: 'alone' }), patience)
  const answer = object(
    await request('ui/initialize', {
      protocolVersion: revision,
      appInfo: { name: `alcove-${name}`, version: '1' },
      appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
    }),
  )
  clearTimeout(alone)
  if (shown.value.is === 'alone') shown.value = { is: 'waiting' }
  const capabilities = object(answer['hostCapabilities'])
  callable.value = capabilities['serverTools'] !== undefined
  canInform = capabilities['updateModelContext'] !== undefined
  adopt(object(answer['hostContext']))
  notify('ui/notifications/initialized')
  followSize()
}

/** Tells the host how much room the page needs. */
function followSize(): void {
  let height = 0
  const measure = () => {
    const now = Math.ceil(document.documentElement.getBoundingClientRect().height)
    if (now === height) return
    height = now
    notify('ui/notifications/size-changed', { width: window.innerWidth, height })
  }
  new ResizeObserver(measure).observe(document.documentElement)
  measure()
}

/** Tells the model, with the next message of the person, what was done in the view. Hosts that do not offer it are told nothing. */
export function inform(message: string): void {
  if (canInform) request('ui/update-model-context', { content: [{ type: 'text', text: message }] }).catch(() => {})
}

// Tools that take a branch and a namespace themselves; the others are called through memory_operation, which has options for both.
const core = new Set(['memory_search', 'memory_recall', 'memory_history', 'memory_branch'])

/** Calls a tool through the host, with the rights of the one whose client it is. */
export async function overHost<T>(method: string, params: object, at: CallOptions): Promise<T> {
  if (!callable.value) throw new Failure('unavailable', text.views.noCalls)
  const where = { ...(at.branch && { branch: at.branch }), ...(at.namespace && { namespace: at.namespace }) }
  if (core.has(method) && !at.dryRun) return answerOf(await calling(method, { ...where, ...params }, at.signal)) as T
  const answer = object(answerOf(await calling('memory_operation', { method, params, options: { ...where, ...(at.dryRun && { dry_run: true }) } }, at.signal)))
  const error = answer['error']
  if (error !== undefined) throw failureOf(error)
  return answer['result'] as T
}

async function calling(name: string, args: object, abort?: AbortSignal): Promise<ToolResult> {
  const result = await request<ToolResult>('tools/call', { name, arguments: args })
  if (abort?.aborted) throw abort.reason
  return object(result)
}

/** The value that a tool answered; a failure if it failed. */
export function answerOf(r: ToolResult): unknown {
  if (r.structuredContent !== undefined) return r.structuredContent
  const said = r.content?.find((c) => c.type === 'text')?.text ?? ''
  const parsed = parse(said)
  if (r.isError) throw failureOf(parsed ?? { message: said })
  return parsed ?? said
}

function failureOf(error: unknown): Failure {
  const e = object(error)
  return new Failure(String(e['code'] ?? 'internal'), String(e['message'] ?? text.views.refused), 0, e['details'])
}

function parse(s: string): unknown {
  try {
    return JSON.parse(s)
  } catch {
    return undefined
  }
}
