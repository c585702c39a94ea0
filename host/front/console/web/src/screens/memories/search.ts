import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { call, written } from '../../call'
import { failed, useLoad, type Load } from '../../load'
import { view } from '../../view'
import { attempts, parameters, type Asked, type Found, type Page } from './query'

const perPage = 50
const typing = 20 // hits of a search whose text is being typed
const shown = { verbose: false, fields: ['namespace', 'agent', 'version', 'timestamp'] }

/** A search with the pages that were read of it. */
export interface Listed extends Page {
  /** What was asked, for further pages and explanations. */
  asked: Record<string, unknown>
}

/** Reads the first page of what is asked for, and more pages on demand. */
export function useSearch(a: Asked): Load<Listed> & { more?: () => void; reading: boolean } {
  const by = [JSON.stringify(a), view.branch.value, view.namespace.value, view.moment.value, written.value]
  const turn = useRef(0)
  const read = async (abort: AbortSignal, mode = '') => ({ turn: ++turn.current, page: await firstPage(a, abort, mode) })
  const words = useLoad((abort) => read(abort, 'lexical'), by)
  const settled = useSettled(by.join('\n'))
  const meaning = useLoad(async (abort) => (settled && meant(a) ? read(abort) : undefined), [settled])
  const later = (meaning.value?.turn ?? 0) > (words.value?.turn ?? 0) ? meaning : words
  const first = { ...words, value: later.value?.page }
  const [rest, setRest] = useState<{ of?: Listed; pages: Page[]; reading: boolean }>({ pages: [], reading: false })
  const latest = useRef(first.value)
  latest.current = first.value
  const further = rest.of === first.value ? rest : unread
  const pages = further.pages
  const value = useMemo(() => first.value && { ...first.value, results: [first.value, ...pages].flatMap((p) => p.results) }, [first.value, pages])
  const next = (pages.at(-1) ?? first.value)?.next
  const more = () => {
    const of = first.value!
    setRest({ of, pages, reading: true })
    const from = next ? { after: next } : { offset: value!.results.length }
    call<Page>('memory_search', { ...of.asked, ...from, k: perPage, ...shown }).then(
      (page) => latest.current === of && setRest({ of, pages: [...pages, page], reading: false }),
      (e: unknown) => latest.current === of && setRest({ of, pages: [...pages, { results: [], total: of.total, note: failed(e).message }], reading: false }),
    )
  }
  const goesOn = value && (next !== undefined || (!listing(value.asked) && value.results.length < value.total))
  return { ...first, ...(value && { value }), reading: further.reading, ...(goesOn && { more }) }
}

const unread = { pages: [] as Page[], reading: false }

const settling = 350 // ms without a key

/** The text, once it has not changed for a while: meaning takes longer to search by than words. */
function useSettled(text: string): string {
  const [settled, settle] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => settle(text), settling)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** Whether meaning counts beside words. */
const meant = (a: Asked) => a.q.trim() !== '' && a.order === ''

/** Whether pages go by a cursor, because there is an order. */
const listing = (asked: Record<string, unknown>) => asked['query'] === undefined || asked['order'] !== undefined

async function firstPage(a: Asked, abort: AbortSignal, mode = ''): Promise<Listed> {
  const first = mode && meant(a) ? { mode, k: typing } : { k: perPage }
  let last: Listed | undefined
  for (const query of attempts(a.q)) {
    const { k, ...more } = first
    const asked = { ...parameters(a, query), ...more }
    last = { ...(await call<Page>('memory_search', { ...asked, k, ...shown }, { signal: abort })), asked }
    if (last.total > 0) break
  }
  return last!
}

/** How the score of a hit came about. */
export interface Why {
  terms?: { term: string; score: number; frequency: number; documents: number }[]
  documents: number
  length: number
  average_length: number
  meaning_weight?: number
  features?: Record<string, number>
}

/** Asks again for the hit at a place, with the parts of its score. */
export async function explain(asked: Record<string, unknown>, at: number, abort: AbortSignal): Promise<(Found & { why?: Why }) | undefined> {
  const answer = await call<Page>('memory_search', { ...asked, k: 1, offset: at, explain: true, ...shown }, { signal: abort })
  return answer.results[0]
}

/** How many of what matches have each value of the facets. */
export interface Counted {
  [facet: string]: { values: { value: string; count: number }[]; more?: number }
}

export function useCounts(a: Asked): Load<Counted> {
  const by = [JSON.stringify({ ...a, order: '' }), view.branch.value, view.namespace.value, view.moment.value, written.value]
  return useLoad(
    async (abort) => {
      const { order: _, ...asked } = parameters(a, attempts(a.q)[0])
      return (await call<{ facets?: Counted }>('memory_search', { ...asked, k: 1, ...shown, facets: true }, { signal: abort })).facets ?? {}
    },
    by,
    a.q ? 250 : 0,
  )
}
