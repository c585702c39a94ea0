/** A metric as the act metrics gives it. */
export interface Metric {
  name: string
  type: string
  samples: Sample[] | null
}

interface Sample {
  labels?: Record<string, string>
  value: number
  count?: number
  buckets?: { le: number; count: number }[]
}

/** What is drawn, at one moment. */
export interface Point {
  at: number // ms
  calls: number
  errors: number
  refusals: number
  guests: number
  seconds: number // that calls took
  ended: number // calls that took them
  cpu: number // seconds
  resident: number // bytes
  goroutines: number
  files: number
}

const samples = (list: Metric[], name: string): Sample[] => list.find((m) => m.name === name)?.samples ?? []

/** The sum of a metric over its labels. */
export const gauge = (list: Metric[], name: string): number => samples(list, name).reduce((sum, s) => sum + s.value, 0)

export function measure(list: Metric[], at: number): Point {
  return {
    at,
    calls: gauge(list, 'alcove_tool_calls_total'),
    errors: gauge(list, 'alcove_tool_errors_total'),
    refusals: gauge(list, 'alcove_refusals_total'),
    guests: gauge(list, 'alcove_guest_requests_total'),
    seconds: gauge(list, 'alcove_tool_duration_seconds'),
    ended: samples(list, 'alcove_tool_duration_seconds').reduce((sum, s) => sum + (s.count ?? 0), 0),
    cpu: gauge(list, 'process_cpu_seconds_total'),
    resident: gauge(list, 'process_resident_memory_bytes'),
    goroutines: gauge(list, 'go_goroutines'),
    files: gauge(list, 'process_open_fds'),
  }
}

/** What happened between each two measurements. A counter that fell is of a server that began anew. */
export function between(points: Point[], of: (a: Point, b: Point, seconds: number) => number): number[] {
  return points.slice(1).map((b, i) => Math.max(0, of(points[i]!, b, Math.max(0.001, (b.at - points[i]!.at) / 1000))))
}

export interface Tool {
  family: string
  tool: string
  calls: number
  errors: number
  mean: number // ms
  p95: number // ms: the bound of the bucket that has it
}

/** The tools that were called, the most called first. */
export function tools(list: Metric[]): Tool[] {
  const errors = new Map<string, number>()
  const id = (l?: Record<string, string>) => `${l?.['family']}\n${l?.['tool']}`
  for (const s of samples(list, 'alcove_tool_errors_total')) errors.set(id(s.labels), (errors.get(id(s.labels)) ?? 0) + s.value)
  return samples(list, 'alcove_tool_duration_seconds')
    .map((s) => ({
      family: s.labels?.['family'] ?? '',
      tool: s.labels?.['tool'] ?? '',
      calls: s.count ?? 0,
      errors: errors.get(id(s.labels)) ?? 0,
      mean: (s.value / Math.max(1, s.count ?? 0)) * 1000,
      p95: (s.buckets?.find((b) => b.count >= 0.95 * (s.count ?? 0))?.le ?? Infinity) * 1000,
    }))
    .sort((a, b) => b.calls - a.calls)
}
