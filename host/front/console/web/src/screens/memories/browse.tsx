import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Button, Chip, Empty, Icon, Problem, Select } from '../../parts'
import { visible } from '../../parts/value'
import { keep, route } from '../../route'
import { mayWrite } from '../../session'
import * as text from '../../text'
import { past, view } from '../../view'
import { Bulk } from './bulk'
import { Facets } from './facets'
import { id, type Place } from './memory'
import { facets, filtered, lastAsked, readAsked, writeAsked, type Asked, type Found } from './query'
import { Row } from './row'
import { useSearch } from './search'

const words = text.memories

/** The list of memories: a box to search by, facets beside it, and what was found. */
export function Browse() {
  const asked = readAsked(route.value.query)
  const set = (part: Partial<Asked>) => keep(writeAsked({ ...asked, ...part }))
  const found = useSearch(asked)
  useEffect(() => {
    lastAsked.value = asked
  }, [JSON.stringify(asked)])
  const [panel, setPanel] = useState(false)
  const box = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLOListElement>(null)
  const chosen = useSelection(found.value?.results ?? [], JSON.stringify([asked, view.branch.value, view.namespace.value, view.moment.value]))
  const may = !past.value && mayWrite()
  // A keystroke renders the box alone: the list stays as it is until there is another one.
  const rows = useMemo(() => found.value?.results.map((m, i) => <Row key={id(m)} m={m} at={i} asked={found.value!.asked} {...(may && { chosen })} />), [found.value, chosen, may])
  useSlash(box)
  return (
    <div class="memories">
      <h1>{text.nav.memories}</h1>
      <div class="memory-bar">
        <div class="search">
          <Icon name="search" />
          <input
            ref={box}
            type="search"
            aria-label={words.search}
            placeholder={words.placeholder}
            value={asked.q}
            autocomplete="off"
            spellcheck={false}
            onInput={(e) => set({ q: e.currentTarget.value })}
            onKeyDown={(e) => {
              if (e.key === 'ArrowDown' || (e.key === 'Enter' && asked.q)) moveTo(list.current, e, 0, e.key === 'Enter')
            }}
          />
        </div>
        <Select hidden label={words.orderLabel} value={asked.order} onChoose={(order) => set({ order })} choices={Object.entries(asked.q ? words.orders : { ...words.orders, '': words.orders.newest }).filter(([o]) => asked.q || o !== 'newest')} />
        <Button class="facets-open" aria-expanded={panel} aria-controls="facets" onClick={() => setPanel(!panel)}>
          {words.filters}
        </Button>
      </div>
      <Chosen asked={asked} set={set} />
      <div class="memory-columns">
        <Facets asked={asked} set={set} open={panel} />
        <section aria-label={words.results} class="found">
          {found.failure && <Problem failure={found.failure} again={found.again} />}
          {found.value && !found.failure && (
            <p class="quiet count" role="status">
              {words.found(found.value.total, scope(asked))}
            </p>
          )}
          {may && <Bulk chosen={chosen} shown={found.value?.results ?? []} />}
          {!found.value && !found.failure && <p class="quiet busy">{text.busy}</p>}
          {found.value && found.value.results.length === 0 && <Nothing asked={asked} set={set} note={found.value.note} />}
          {found.value && (
            <ol ref={list} class="list hits" aria-busy={found.busy} onKeyDown={(e) => moveAmong(e, list.current, box.current)}>
              {rows}
            </ol>
          )}
          {found.more && (
            <Button class="more" disabled={found.reading} onClick={found.more}>
              {found.reading ? text.busy : text.more}
            </Button>
          )}
        </section>
      </div>
    </div>
  )
}

/** Where is searched, in words. */
function scope(a: Asked): string {
  if (a.namespace.length > 0) return words.inSome(a.namespace.map(visible))
  if (view.namespace.value && view.namespace.value !== '*') return words.inSome([visible(view.namespace.value)])
  return words.inAll
}

/** What filters, each with a button that removes it. */
function Chosen({ asked, set }: { asked: Asked; set: (part: Partial<Asked>) => void }) {
  if (!filtered(asked)) return null
  return (
    <div class="row chosen" role="group" aria-label={words.chosen}>
      {facets.flatMap((facet) =>
        asked[facet].map((value) => (
          <Chip key={facet + value} label={words.removeFilter(words.facet[facet], visible(value))} onRemove={() => set({ [facet]: asked[facet].filter((v) => v !== value) })}>
            <span class="quiet">{words.facet[facet]}</span> <bdi>{visible(value)}</bdi>
          </Chip>
        )),
      )}
      {(['since', 'until'] as const).map(
        (end) =>
          asked[end] && (
            <Chip key={end} label={words.removeFilter(words.facet[end], asked[end])} onRemove={() => set({ [end]: '' })}>
              <span class="quiet">{words.facet[end]}</span> <bdi>{visible(asked[end])}</bdi>
            </Chip>
          ),
      )}
      <Button onClick={() => set({ namespace: [], type: [], tags: [], agent: [], state: [], since: '', until: '' })}>{words.clearFilters}</Button>
    </div>
  )
}

function Nothing({ asked, set, note }: { asked: Asked; set: (part: Partial<Asked>) => void; note: string | undefined }) {
  if (filtered(asked) || asked.q)
    return (
      <div class="empty">
        <h2>{words.nothing}</h2>
        <p>{note ? visible(note) : words.nothingHint}</p>
        {filtered(asked) && <Button onClick={() => set({ namespace: [], type: [], tags: [], agent: [], state: [], since: '', until: '' })}>{words.clearFilters}</Button>}
      </div>
    )
  return <Empty title={words.empty} hint={past.value ? words.emptyThen : words.emptyHint} {...(!past.value && { command: words.emptyCommand })} />
}

/** Puts the focus on the search box when somebody presses "/" and is not typing. */
function useSlash(box: { current: HTMLInputElement | null }) {
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      const typing = (e.target as Element).closest('input, textarea, select, dialog, [contenteditable]')
      if (e.key !== '/' || typing || e.ctrlKey || e.metaKey || e.altKey) return
      e.preventDefault()
      box.current?.focus()
      box.current?.select()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}

const links = (list: HTMLElement | null) => [...(list?.querySelectorAll<HTMLAnchorElement>('a.hit') ?? [])]

function moveTo(list: HTMLElement | null, e: KeyboardEvent, at: number, open = false) {
  const link = links(list)[at]
  if (!link) return
  e.preventDefault()
  if (open) link.click()
  else link.focus()
}

/** The arrows go from hit to hit, Escape goes to the box. */
function moveAmong(e: KeyboardEvent, list: HTMLElement | null, box: HTMLElement | null) {
  const row = (e.target as Element).closest('li')
  const link = row?.querySelector<HTMLAnchorElement>('a.hit')
  if (!link || (e.target as Element).closest('input:not([type=checkbox])')) return
  const at = links(list).indexOf(link)
  if (e.key === 'ArrowDown') moveTo(list, e, at + 1)
  else if (e.key === 'ArrowUp' && at === 0) (e.preventDefault(), box?.focus())
  else if (e.key === 'ArrowUp') moveTo(list, e, at - 1)
  else if (e.key === 'Home') moveTo(list, e, 0)
  else if (e.key === 'Escape') box?.focus()
  else if (e.key === 'x' && !e.ctrlKey && !e.metaKey) row?.querySelector<HTMLInputElement>('input[type=checkbox]')?.click()
}

/** Which memories are chosen for what is done with many. */
export interface Selection {
  list: Found[]
  has: (p: Place) => boolean
  /** Chooses or drops the one at a place; with range, all between it and the last one. */
  toggle: (at: number, range: boolean) => void
  all: (list: Found[]) => void
}

function useSelection(results: Found[], by: string): Selection {
  const [chosen, setChosen] = useState<Map<string, Found>>(new Map())
  const last = useRef(0)
  const shown = useRef(results)
  shown.current = results
  useEffect(() => setChosen((was) => (was.size > 0 ? new Map() : was)), [by])
  return useMemo(
    () => ({
      list: [...chosen.values()],
      has: (p) => chosen.has(id(p)),
      toggle: (at, range) => {
        const next = new Map(chosen)
        const on = !chosen.has(id(shown.current[at]!))
        const [from, to] = range ? [Math.min(last.current, at), Math.max(last.current, at)] : [at, at]
        for (const m of shown.current.slice(from, to + 1)) {
          if (on) next.set(id(m), m)
          else next.delete(id(m))
        }
        last.current = at
        setChosen(next)
      },
      all: (list) => setChosen(new Map(list.map((m) => [id(m), m]))),
    }),
    [chosen],
  )
}
