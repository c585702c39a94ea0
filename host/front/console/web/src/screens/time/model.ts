import { call } from '../../call'
import { view } from '../../view'

export interface Point {
  version: number
  timestamp: string
}

/** How many memories changed in equal spans of a branch's past. */
export interface Timeline {
  since?: Point
  until?: Point
  /** What the moment of the view shows. */
  at?: Point
  changes: number
  buckets: { until: string; version: number; changes: number }[]
  /** The commits with a change before and after the moment of the view. */
  previous?: Point
  next?: Point
}

export interface Change {
  namespace?: string
  key: string
  change: 'added' | 'changed' | 'forgotten'
  before?: { value?: unknown }
  after?: { value?: unknown }
  agent?: string
  family?: string
  version: number
  timestamp: string
  value_omitted?: boolean
}

export interface Changed {
  changes: Change[]
  next?: string
}

export const buckets = 120
const page = 20

const within = () => (view.namespace.value ? { namespace: view.namespace.value } : {})

export function timeline(since: string, abort: AbortSignal): Promise<Timeline> {
  const at = view.moment.value
  return call<Timeline>('memory_history', { buckets, ...within(), ...(since && { since }), ...(at && { as_of: at }) }, { signal: abort })
}

/** A page of what changed between two moments. An empty one is the beginning, or now. */
export function changed(since: string, until: string, after: string, abort?: AbortSignal): Promise<Changed> {
  return call<Changed>(
    'memory_history',
    { changes: true, verbose: true, limit: page, ...within(), ...(since && { since }), ...(until && { until }), ...(after && { after }) },
    abort ? { signal: abort } : {},
  )
}

/** A memory's value at a moment; undefined: it was not there. */
export async function valueAt(c: Change, moment: string): Promise<unknown> {
  const found = await call<{ value?: unknown }>('memory_recall', { key: c.key, verbose: true, as_of: moment, ...(c.namespace && { namespace: c.namespace }) })
  return found.value
}

/** The positions of a slider: the timeline's beginning is 0, its end the last. */
export const positions = 1000

export interface Scale {
  from: number // ms
  to: number // ms
}

export function positionOf(at: number, s: Scale): number {
  return s.to <= s.from ? positions : Math.min(positions, Math.max(0, Math.round(((at - s.from) / (s.to - s.from)) * positions)))
}

export function momentOf(position: number, s: Scale): string {
  return new Date(s.from + ((s.to - s.from) * position) / positions).toISOString()
}
