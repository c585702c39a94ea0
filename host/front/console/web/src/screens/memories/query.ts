import type { Place } from './memory'
import { signal } from '@preact/signals'
import { view } from '../../view'

/** What the screen asks for: the text of the box, the order, and the facets that are chosen. */
export interface Asked {
  q: string
  order: string // empty: by relevance, or without a text the newest
  namespace: string[]
  type: string[]
  tags: string[]
  agent: string[]
  state: string[]
  since: string
  until: string
}

/** What the list showed last, to come back to. */
export const lastAsked = signal<Asked | null>(null)

/** The facets of which several can be chosen. */
export type Facet = 'namespace' | 'type' | 'tags' | 'agent' | 'state'

export const facets: Facet[] = ['namespace', 'type', 'tags', 'agent', 'state']

// Lists are one parameter of the address each.
const several = (text: string | null) => (text ? text.split(',').map(decodeURIComponent) : [])
const one = (list: string[]) => list.map((v) => v.replace(/[%,]/g, encodeURIComponent)).join(',')

/** What an address asks for. The namespace of the view is another matter: it is the server's default. */
export function readAsked(query: URLSearchParams): Asked {
  return {
    q: query.get('q') ?? '',
    order: query.get('order') ?? '',
    namespace: several(query.get('ns')),
    type: several(query.get('type')),
    tags: several(query.get('tag')),
    agent: several(query.get('agent')),
    state: several(query.get('state')),
    since: query.get('since') ?? '',
    until: query.get('until') ?? '',
  }
}

/** The query of the address that asks for it. */
export function writeAsked(a: Asked): Record<string, string> {
  return { q: a.q, order: a.order, ns: one(a.namespace), type: one(a.type), tag: one(a.tags), agent: one(a.agent), state: one(a.state), since: a.since, until: a.until }
}

/** Whether anything but the text and the order is asked for. */
export const filtered = (a: Asked) => facets.some((f) => a[f].length > 0) || a.since !== '' || a.until !== ''

/** The parameters of memory_search. */
export function parameters(a: Asked, query = a.q): Record<string, unknown> {
  const list = (name: Facet) => a[name].length > 0 && { [name]: a[name] }
  const namespace = a.namespace.length > 0 ? a.namespace : view.namespace.value
  return {
    ...(namespace.length > 0 && { namespace }),
    ...list('type'),
    ...list('tags'),
    ...list('agent'),
    ...list('state'),
    ...(a.since && { since: a.since }),
    ...(a.until && { until: a.until }),
    ...(a.order && { order: a.order }),
    ...(view.moment.value && { as_of: view.moment.value }),
    ...(query.trim() && { query: query.trim() }),
  }
}

const open = /(?:^|\s)([\p{L}\p{N}]{2,})$/u // a last word that may go on

/**
 * What to ask while somebody types: the last word as it is, and as the beginning of one. Words are kept by their stems, which are shorter
 * than the words: if nothing begins with what is typed, its own beginnings are asked for.
 */
export function attempts(q: string): string[] {
  const word = open.exec(q)?.[1]
  if (!word) return [q]
  const before = q.slice(0, q.length - word.length)
  const shorter = [word.length - 2, word.length - 4].filter((n) => n >= 3).map((n) => `${before}${word.slice(0, n)}*`)
  return [`${before}${word} ${word}*`, ...shorter]
}

/** A memory that was found. */
export interface Found extends Place {
  value?: unknown
  value_omitted?: boolean
  truncated?: boolean
  snippet?: string
  score?: number
  version: number
  timestamp: string
  tags?: string[]
  type?: string
  importance?: number
  metadata?: Record<string, unknown>
  agent?: string
  state?: string
  superseded_by?: string
  expires_at?: string
}

export interface Page {
  results: Found[]
  total: number
  next?: string
  note?: string
}
