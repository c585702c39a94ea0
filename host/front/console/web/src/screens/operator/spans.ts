import * as text from '../../text'

const hour = 3_600_000 // ms
const lengths: Record<string, number> = { hour, day: 24 * hour, week: 7 * 24 * hour, month: 30 * 24 * hour }

/** Times to choose from, for Select. */
export const spans: [string, string][] = [['', text.operator.spans.all], ...Object.keys(lengths).map((s): [string, string] => [s, text.operator.spans[s as 'hour']])]

/** The part of a request that asks for what is not older than a chosen time. */
export function from(span: string): { since?: string } {
  const length = lengths[span]
  return length ? { since: new Date(Date.now() - length).toISOString() } : {}
}
