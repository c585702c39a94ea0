import { written, type CallOptions } from './call'
import { Failure, failureOf } from './failure'
import { current, lost } from './session'

const api = '/console/api'

interface Answer<T> {
  result?: T
  error?: { code: string; message: string; details?: unknown }
}

/** Calls a tool of the server that the page comes from. */
export async function overHTTP<T>(method: string, params: object, at: CallOptions): Promise<T> {
  const query = new URLSearchParams()
  if (at.branch) query.set('branch', at.branch)
  if (at.namespace) query.set('namespace', at.namespace)
  if (at.dryRun) query.set('dry_run', 'true')
  const answer = await send<Answer<T>>(`${api}/operation/${method}?${query}`, params, {}, at.signal)
  if (answer.error) throw new Failure(answer.error.code, answer.error.message, 0, answer.error.details)
  return answer.result as T
}

/** Carries out an operator's act that changes nothing. */
export function look<T>(act: string, request: object = {}, abort?: AbortSignal): Promise<T> {
  return send<T>(`${api}/acts/${act}`, request, {}, abort)
}

/** Carries out an operator's act that the person has confirmed. */
export async function act<T>(name: string, request: object = {}): Promise<T> {
  const answer = await send<T>(`${api}/acts/${name}`, request, { 'Alcove-Confirm': name })
  written.value++
  return answer
}

/** Hands on what an operator's act streams, a line of JSON each, until it ends or is aborted. */
export async function follow<T>(act: string, request: object, each: (line: T) => void, abort: AbortSignal): Promise<void> {
  const answer = await post(`${api}/acts/${act}`, request, {}, abort)
  let rest = ''
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const lines = (rest + read.value).split('\n')
    rest = lines.pop()!
    for (const line of lines) each(JSON.parse(line) as T)
  }
}

/** What an operator's act streams, whole, for example a backup. */
export async function receive(act: string, request: object): Promise<Blob> {
  return (await post(`${api}/acts/${act}`, request)).blob()
}

async function send<T>(address: string, body: object, headers: Record<string, string> = {}, abort?: AbortSignal): Promise<T> {
  const answer = await post(address, body, headers, abort)
  return answer.status === 204 ? (undefined as T) : ((await answer.json()) as T)
}

async function post(address: string, body: object, headers: Record<string, string> = {}, abort?: AbortSignal): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(address, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Alcove-Console': current()?.csrf ?? '', ...headers },
      body: JSON.stringify(body),
      signal: abort ?? null,
    })
  } catch (e) {
    throw abort?.aborted ? e : Failure.unreachable()
  }
  if (answer.ok) return answer
  const why = await failureOf(answer)
  lost(why)
  throw why
}

/** The address of the stream of events. The server takes the token of the session from it, because a WebSocket has no headers. */
export function streamAddress(): string {
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws'
  return `${scheme}://${location.host}${api}/stream?csrf=${encodeURIComponent(current()?.csrf ?? '')}`
}
