import { call } from '../../call'
import { view } from '../../view'

export interface Branch {
  name: string
  parent?: string
  /** The version of the parent that it starts from. */
  forked_at?: number
  created: string
  depth?: number
  /** When it was deleted, of one that can be restored. */
  deleted?: string
}

export interface Merge {
  source: string
  target: string
  source_version: number
  version: number
  timestamp: string
}

export interface Listed {
  branches: Branch[]
  merges?: Merge[]
  note?: string
}

export interface Side {
  value?: unknown
  version?: number
  timestamp?: string
}

/** A key whose states differ between two branches. */
export interface Difference {
  namespace?: string
  collection?: string
  key: string
  change: 'added' | 'changed' | 'removed' | 'deleted'
  clash?: string
  source?: Side
  target?: Side
  result?: Side
  value_omitted?: boolean
}

export interface Compared {
  summary: string
  added: number
  changed: number
  removed: number
  clashing?: number
  seen?: number
  differences: Difference[]
  next?: string
  note?: string
}

export interface Merged {
  merged: boolean
  unchanged?: boolean
  summary: string
  applied: number
  unresolved?: number
  differences: Difference[]
  clashes?: Difference[]
  seen?: number
  next?: string
  note?: string
}

/** How one clash is settled. */
export interface Resolution {
  namespace: string
  key: string
  take: 'source' | 'target' | 'delete' | 'value'
  value?: unknown
}

export const strategies = ['strict', 'source', 'target', 'newest', 'fields'] as const
export type Strategy = (typeof strategies)[number]

export const root = 'default'
const proposals = 'proposals/'

/** The family that proposes what a branch has; none: it is no proposal. */
export function proposer(name: string): string | undefined {
  return name.startsWith(proposals) ? name.slice(proposals.length).split('/')[0] : undefined
}

/** Identifies the key of a difference among all namespaces. */
export const idOf = (d: { namespace?: string; collection?: string; key: string }) => [d.namespace ?? '', d.collection ?? '', d.key].join('\n')

/** Calls memory_branch beside the branch of the view: each action names its own. */
export function ask<T>(request: object, abort?: AbortSignal): Promise<T> {
  return call<T>('memory_branch', { verbose: true, ...request }, { branch: '', ...(abort && { signal: abort }) })
}

/** Has all screens show a branch. */
export function lookAt(branch: string): void {
  view.branch.value = branch === root ? '' : branch
}

/** A place in the drawing: a lane is a line of it, a column a moment at which something was forked or merged. */
export interface Lane {
  branch: Branch
  row: number
  from: number
  to: number
  parentRow?: number
}

export interface Join {
  merge: Merge
  column: number
  row: number
  /** Of the source, unless it is not drawn. */
  sourceRow?: number
}

export interface Drawing {
  lanes: Lane[]
  joins: Join[]
  /** The moments of the columns; the last is now. */
  columns: string[]
}

/** Lays out branches: each below its parent, the columns in the order of time. */
export function drawn(branches: Branch[], merges: Merge[]): Drawing {
  const ordered = below(branches)
  const rows = new Map(ordered.map((b, row) => [b.name, row]))
  const shown = merges.filter((m) => rows.has(m.target))
  const moments = [...new Set([...ordered.map((b) => b.created), ...shown.map((m) => m.timestamp), ...ordered.flatMap((b) => (b.deleted ? [b.deleted] : []))])].sort()
  const column = new Map(moments.map((m, i) => [m, i]))
  return {
    lanes: ordered.map((branch, row) => {
      const parentRow = branch.parent === undefined ? undefined : rows.get(branch.parent)
      return { branch, row, from: column.get(branch.created)!, to: branch.deleted ? column.get(branch.deleted)! : moments.length, ...(parentRow !== undefined && { parentRow }) }
    }),
    joins: shown.map((merge) => {
      const sourceRow = rows.get(merge.source)
      return { merge, column: column.get(merge.timestamp)!, row: rows.get(merge.target)!, ...(sourceRow !== undefined && { sourceRow }) }
    }),
    columns: [...moments, ''],
  }
}

/** Orders branches so that each follows its parent, or the branches forked from that. */
function below(branches: Branch[]): Branch[] {
  const names = new Set(branches.map((b) => b.name))
  const children = new Map<string, Branch[]>()
  for (const b of branches) {
    const parent = b.parent !== undefined && b.parent !== b.name && names.has(b.parent) ? b.parent : ''
    children.set(parent, [...(children.get(parent) ?? []), b])
  }
  const list: Branch[] = []
  const seen = new Set<Branch>()
  const add = (b: Branch) => {
    if (seen.has(b)) return
    seen.add(b)
    list.push(b)
    for (const child of children.get(b.name) ?? []) add(child)
  }
  for (const b of children.get('') ?? []) add(b)
  for (const b of branches) add(b) // a name that was given anew may be its own ancestor
  return list
}
