import { call } from '../../call'

/** A memory as memory_recall and memory_search give it. */
export interface Memory {
  key: string
  namespace: string
  value: unknown
  version: number
  timestamp: string
  created?: string
  tags?: string[]
  type?: string
  importance?: number
  metadata?: Record<string, unknown>
  agent?: string
  state?: string
  supersedes?: string[]
  links?: string[]
  expires_at?: string
  /** How it was used until now. */
  use?: { accesses: number; last_access?: string; health?: number }
}

/** Where a memory is; in an empty namespace: in that of the session. */
export interface Place {
  namespace: string
  key: string
}

/** A text that tells memories apart. No namespace has a line break. */
export const id = (p: Place) => p.namespace + '\n' + p.key

interface Recalled extends Partial<Omit<Memory, 'namespace'>> {
  found: boolean
  key: string
  note?: string
}

/** Reads a memory whole, now or as it was, which does not count as a recall. Nothing: there is none. */
export async function recall({ namespace, key }: Place, at = '', abort?: AbortSignal): Promise<Memory | null> {
  const found = await call<Recalled>('memory_recall', { key, ...(namespace && { namespace }), use: true, ...(at && { as_of: at }) }, abort ? { signal: abort } : {})
  return found.found ? ({ ...found, namespace } as Memory) : null
}

/** A memory in the form in which memory_store takes it, whole, because a store replaces all of it. */
export function item(m: Memory): Record<string, unknown> {
  const { key, value, tags, type, importance, metadata, supersedes, links, expires_at } = m
  const alive = expires_at && new Date(expires_at) > new Date()
  return { key, value, ...given({ tags, type, importance, metadata, supersedes, links }), ...(alive && { expires: expires_at }) }
}

/** An object without the members that are not given. */
function given(o: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined))
}

export const pinned = (m: Memory) => m.metadata?.['pinned'] === true
