// What the server tells of families: the parts that the screen shows.

export interface Tool {
  name: string
  description: string
  docs?: string
}

export interface Capability {
  name: string
  scope?: string[]
  during?: 'calls' | 'jobs'
  reason?: string
}

export interface HookAsked {
  collections?: string[]
  on_failure?: OnFailure
  changes?: string[]
}

export type OnFailure = 'skip' | 'defer' | 'refuse'

export interface Manifest {
  name: string
  version: string
  description: string
  docs?: string
  license?: string
  homepage?: string
  tools?: Tool[]
  hooks?: Partial<Record<'store' | 'stored' | 'merged' | 'session_end' | 'rank' | 'embed', HookAsked>> & { jobs?: { name: string; description?: string; every?: string }[] }
  capabilities?: Capability[]
  collections?: { name: string; per?: string; expires?: string }[]
}

export interface Family {
  manifest: Manifest
  digest?: string
  source: string
  loaded: boolean
  fault?: string
  hidden?: boolean
  grant: { capabilities?: Capability[]; hooks?: Record<string, { on_failure?: OnFailure; generations?: number }>; limits?: Record<string, number>; disabled?: boolean; follows_posture?: boolean; denied?: string[]; signers?: string[]; source?: string }
  guard?: { version?: string; missing?: string }
  update?: { version?: string; dropped?: string[] }
  newly_asked?: string[]
  grant_command?: string
  by_posture?: string[]
  lacking?: string[]
}

export interface Use {
  family: string
  records: number
  record_bytes: number
  jobs: number
  job_bytes: number
  quotas: Record<string, number>
  spent?: Spending[]
  cut?: { count: number; at: string }
  troubles?: { kind: string; count: number; last: string; says: string }[]
  resting?: boolean
}

export interface Info extends Family {
  config?: Record<string, unknown>
  limits: Record<string, { value: number; default: number; set?: boolean }>
  use: Use
}

export interface Spending {
  budget: string
  most: number
  spent: number
  until: string
}

export interface Cost {
  requests: number
  classes: Record<string, number>
  fuel: number
  time_ms: number
  slowest_ms: number
  peak_memory_bytes: number
  host_calls: number
}

export interface Stats extends Cost {
  family: string
  by: Record<string, Cost>
}

export interface Job {
  id: string
  family: string
  job: string
  state: 'scheduled' | 'queued' | 'running' | 'done' | 'failed' | 'cancelled'
  branch: string
  namespace: string
  agent?: string
  attempts: number
  due: string
  created: string
  ended?: string
  error?: string
  proposal?: string
  progress?: { done: number; total?: number; message?: string }
}

export interface Posture {
  posture: 'personal' | 'careful' | 'locked'
  shared?: boolean
  why_shared?: string
  gives: { family: string; gives: string[]; lacks?: string[]; decided?: boolean; denied?: string[] }[]
}

export interface LockChange {
  lines: string[] | null
  families?: string[]
}

export interface Setting {
  key: string
  value: unknown
  source: string
  version?: number
  updated_at?: string
  updated_by?: string
  default: unknown
  schema: Schema
  category?: string
  description?: string
  families: string[]
}

export interface Schema {
  type?: string
  enum?: unknown[]
  minimum?: number
  maximum?: number
  maxLength?: number
}

export interface SettingVersion {
  version: number
  before?: unknown
  after?: unknown
  at: string
  agent?: string
  family?: string
  reason?: string
  rolled_back_to?: number
}

/** How many of the requests failed. */
export function failures(c: Cost): number {
  return Object.entries(c.classes).reduce((n, [name, count]) => (name === 'ok' ? n : n + count), 0)
}
