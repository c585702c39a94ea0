import { signal } from '@preact/signals'
import { view } from './view'

/** Options of one call that differ from the view. */
export interface CallOptions {
  namespace?: string
  branch?: string
  dryRun?: boolean
  signal?: AbortSignal
}

/** Who carries out calls of tools: the server that the page comes from, or the program that shows the page. */
export type Carrier = <T>(method: string, params: object, at: CallOptions) => Promise<T>

let carrier: Carrier = () => Promise.reject(new Error('the page said nobody who carries out calls'))

/** Says who carries out calls, before the first. */
export function callThrough(c: Carrier): void {
  carrier = c
}

/** Rises with each write of this page, so that what shows memories reads them again. */
export const written = signal(0)

/**
 * Calls a tool. Branch and namespace are those of the view, unless params or options say otherwise; the moment of the view is for the
 * caller to give (view.moment), because only reads take it.
 */
export function call<T>(method: string, params: object = {}, options: CallOptions = {}): Promise<T> {
  return carrier<T>(method, params, { ...options, branch: options.branch ?? view.branch.value })
}

/** Calls a tool that writes, and tells what shows memories to read again. */
export async function write<T>(method: string, params: object = {}, options: CallOptions = {}): Promise<T> {
  const answer = await call<T>(method, params, options)
  if (!options.dryRun) written.value++
  return answer
}
