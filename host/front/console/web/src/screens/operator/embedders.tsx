import { act, look, written } from '../../api'
import { attempt, mayAct } from '../../deed'
import { amount } from '../../figures'
import { useLoad, useTick } from '../../load'
import { ask, Button, Chip, Copy, Loaded, Plain } from '../../parts'
import { text } from '../../text'

const t = text.operator.embedders

interface Embedder {
  name: string
  kind: string
  model?: string
  url?: string
  dimensions?: number
  standard: boolean
  generation: number
  vectors: number
  waiting: number
  refused?: number
  making?: number
  until?: string
  error?: string
}

/** The embedders, and how far their vectors are. */
export function Embedders() {
  const tick = useTick(2000)
  const list = useLoad((abort) => look<Embedder[]>('embedders', {}, abort), [tick, written.value])
  return (
    <>
      <p class="quiet">{t.lead}</p>
      <Loaded of={list}>
        {(all) => (
          <ul class="list">
            {all.map((e) => (
              <One key={e.name} of={e} />
            ))}
            {mayAct() && all.some((e) => e.standard) && (
              <li class="row">
                <span>{t.wordsAlone}</span>
                <Button onClick={() => void choose('')}>{t.words}</Button>
              </li>
            )}
          </ul>
        )}
      </Loaded>
      <p class="quiet below">{t.more}</p>
      <Copy command="alcove embedder set --help" />
    </>
  )
}

async function choose(name: string) {
  if (await ask({ title: name ? t.useIt(name) : t.words, will: name ? t.useWill(name) : t.wordsWill, go: name ? t.use : t.words })) await attempt(() => act('choose-embedder', { standard: name }), name ? t.used(name) : t.wordsDone)
}

function One({ of: e }: { of: Embedder }) {
  const total = e.vectors + e.waiting
  const again = async () => {
    if (await ask({ title: t.againIt(e.name), will: t.againWill(e.vectors, e.url ?? ''), go: t.again })) await attempt(() => act('regenerate-embedder', { name: e.name }), t.begun(e.name))
  }
  const remove = async () => {
    if (await ask({ title: t.removeIt(e.name), will: t.removeWill(e.vectors), go: t.remove, danger: true })) await attempt(() => act('remove-embedder', { name: e.name }), t.removed(e.name))
  }
  return (
    <li>
      <div class="row">
        <strong>
          <Plain>{e.name}</Plain>
        </strong>
        <span class="quiet">
          <Plain>{[e.kind, e.model, e.url].filter(Boolean).join(' · ')}</Plain>
          {!!e.dimensions && `, ${t.dimensions(e.dimensions)}`}
        </span>
        {e.standard && <Chip tone="good">{t.standard}</Chip>}
        {mayAct() && (
          <span class="row apart">
            {!e.standard && <Button onClick={() => void choose(e.name)}>{t.use}</Button>}
            <Button onClick={() => void again()}>{t.again}</Button>
            {e.kind !== 'builtin' && <Button onClick={() => void remove()}>{t.remove}</Button>}
          </span>
        )}
      </div>
      <p>
        <progress max={total || 1} value={e.making ?? (total ? e.vectors : 1)} aria-label={t.progress(e.name)} /> {t.state(amount(e.vectors), amount(e.waiting))}
        {!!e.making && `, ${t.making(amount(e.making))}`}
        {!!e.refused && `, ${t.refused(amount(e.refused))}`}
      </p>
      {e.until && <p>{t.until(e.until)}</p>}
      {e.error && (
        <p class="failed">
          <Plain>{e.error}</Plain>
        </p>
      )}
    </li>
  )
}
