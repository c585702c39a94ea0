import { useState } from 'preact/hooks'
import type { Failure } from '../../failure'
import { failed, useLoad } from '../../load'
import { Button, Chip, Diff, Loaded, Moment, Note, Plain, Problem } from '../../parts'
import { visible } from '../../parts/value'
import { to } from '../../route'
import { current } from '../../session'
import * as text from '../../text'
import { changed, valueAt, type Change, type Changed } from './model'

const t = text.time
const tones: Record<Change['change'], string> = { added: 'good', changed: '', forgotten: 'bad' }

/** What changed between two moments, the last change first, page after page. */
export function Changes({ from, until }: { from: string; until: string }) {
  const first = useLoad((abort) => changed(from, until, '', abort), [from, until])
  const [rest, setRest] = useState<Changed[]>([])
  const [failure, fail] = useState<Failure>()
  const [busy, setBusy] = useState(false)
  const more = async (after: string) => {
    setBusy(true)
    try {
      const page = await changed(from, until, after)
      setRest((was) => [...was, page])
      fail(undefined)
    } catch (e) {
      fail(failed(e))
    }
    setBusy(false)
  }
  return (
    <section>
      <h2>{t.changed}</h2>
      <Loaded of={first}>
        {(page) => {
          const pages = [page, ...rest]
          const list = pages.flatMap((p) => p.changes)
          const next = pages.at(-1)?.next
          return (
            <>
              {list.length === 0 && !next && <p class="quiet">{t.nothing}</p>}
              <ul class="list">
                {list.map((c) => (
                  <Row key={`${c.namespace ?? ''}\n${c.key}`} of={c} from={from} />
                ))}
              </ul>
              {failure && <Problem failure={failure} />}
              {next && (
                <Button disabled={busy} onClick={() => void more(next)}>
                  {text.more}
                </Button>
              )}
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function Row({ of, from }: { of: Change; from: string }) {
  const [whole, setWhole] = useState<{ before: unknown; after: unknown }>()
  const [failure, fail] = useState<Failure>()
  const fetch = async () => {
    try {
      const [before, after] = await Promise.all([of.before && from ? valueAt(of, from) : undefined, of.after ? valueAt(of, `v${of.version}`) : undefined])
      setWhole({ before, after })
    } catch (e) {
      fail(failed(e))
    }
  }
  return (
    <li>
      <h3 class="row">
        <Chip tone={tones[of.change]}>{t.change[of.change]}</Chip>
        <a href={to(['memories', of.namespace ?? current()?.namespace ?? '', of.key])}>
          <Plain>{of.key}</Plain>
        </a>
        {of.namespace && (
          <small>
            <Plain>{of.namespace}</Plain>
          </small>
        )}
        <small>
          <Moment at={of.timestamp} /> {(of.agent || of.family) && t.by(visible(of.agent ?? ''), visible(of.family ?? ''))}
        </small>
      </h3>
      {failure && <Problem failure={failure} />}
      {of.value_omitted && !whole ? (
        <Note>
          {t.omitted} <Button onClick={() => void fetch()}>{t.showValues}</Button>
        </Note>
      ) : (
        <Diff before={whole ? whole.before : of.before?.value} after={whole ? whole.after : of.after?.value} />
      )}
    </li>
  )
}
