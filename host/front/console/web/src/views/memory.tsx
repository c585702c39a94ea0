import { useState } from 'preact/hooks'
import { call, written } from '../call'
import { failed, useLoad } from '../load'
import { Button, Chip, Loaded, Moment, Note, Plain, tell, Value } from '../parts'
import { recall, type Place } from '../screens/memories/memory'
import { VersionList, type History as Page, type Version } from '../screens/memories/versions'
import '../screens/memories/style.css'
import * as text from '../text'
import { view } from '../view'
import { callable } from './host'

const words = text.memories
const perPage = 20

/** A memory whole, with its history on demand. */
export function Opened({ place, at = '', back, onBack }: { place: Place; at?: string; back: string; onBack: () => void }) {
  const [past, setPast] = useState(false)
  const m = useLoad((abort) => recall(place, at, abort), [place.namespace, place.key, at, view.branch.value])
  return (
    <article>
      <Button onClick={onBack}>{back}</Button>
      <h2 class="below">
        <Plain>{place.key}</Plain>
      </h2>
      <Loaded of={m}>
        {(found) =>
          found === null ? (
            <Note>{words.gone}</Note>
          ) : (
            <>
              <p class="row">
                {found.type && (
                  <Chip>
                    <Plain>{found.type}</Plain>
                  </Chip>
                )}
                {found.state && <Chip tone="warn">{found.state}</Chip>}
                {found.tags?.map((t) => (
                  <span key={t} class="tag">
                    <Plain>{t}</Plain>
                  </span>
                ))}
                <span class="quiet">
                  v{found.version},{' '}
                  {found.agent && (
                    <>
                      <Plain>{found.agent}</Plain>,{' '}
                    </>
                  )}
                  <Moment at={found.timestamp} />
                </span>
              </p>
              <Value of={found.value} />
            </>
          )
        }
      </Loaded>
      <p class="below">
        <Button aria-expanded={past} onClick={() => setPast(!past)}>
          {words.history}
        </Button>
      </p>
      {past && <Past place={place} at={at} />}
    </article>
  )
}

/** The history of a memory, read through the host. */
function Past({ place, at }: { place: Place; at: string }) {
  const first = useLoad((abort) => read(place, at, abort), [place.namespace, place.key, at, view.branch.value, written.value])
  return <Loaded of={first}>{(h) => <History first={h} place={place} />}</Loaded>
}

const read = (place: Place, at: string, abort?: AbortSignal) =>
  call<Page>(
    'memory_history',
    { key: place.key, ...(place.namespace && { namespace: place.namespace }), limit: perPage, verbose: true, authors: true, ...(at && { as_of: at }) },
    abort ? { signal: abort } : {},
  )

/** The versions of a memory from a page of them on. */
export function History({ first, place }: { first: Page; place: Place }) {
  const [older, setOlder] = useState<{ of: Page; versions: Version[]; more: string | undefined }>()
  const mine = older?.of === first ? older : { of: first, versions: [], more: first.more }
  const next = () =>
    read(place, mine.more!).then(
      (page) => setOlder({ of: first, versions: [...mine.versions, ...page.versions], more: page.more }),
      (e: unknown) => tell(failed(e).message, { bad: true }),
    )
  return (
    <>
      <VersionList all={[...first.versions, ...mine.versions]} whole={!mine.more} place={place} />
      {mine.more && callable.value && <Button onClick={() => void next()}>{words.older}</Button>}
    </>
  )
}
