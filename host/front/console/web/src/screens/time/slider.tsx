import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../parts'
import * as text from '../../text'
import { view } from '../../view'
import { momentOf, positionOf, positions, type Scale, type Timeline } from './model'

const t = text.time
const spoken = (at: number | string) => new Date(at).toLocaleString()

/** The timeline with two handles: the moment that is shown, and since when changes are listed. */
export function Slider({ line, since, onSince }: { line: Timeline; since: string; onSince: (v: string) => void }) {
  const scale: Scale = { from: Date.parse(line.since?.timestamp ?? ''), to: Date.parse(line.until?.timestamp ?? '') }
  const at = view.moment.value && line.at ? Date.parse(line.at.timestamp) : scale.to
  const from = since ? Date.parse(since) : scale.from
  const show = (moment: string) => (view.moment.value = moment)
  const keys = (e: KeyboardEvent) => {
    const to = step(e.key, line)
    if (to === undefined) return
    e.preventDefault()
    if (to !== null) show(to)
  }
  return (
    <div class="card timeline">
      <Bars line={line} scale={scale} from={Math.min(from, at)} to={Math.max(from, at)} />
      <Handle label={t.moment} at={at} scale={scale} now={view.moment.value === ''} version={line.at?.version} onKeyDown={keys} onChoose={show} />
      <Handle label={t.since} at={from} scale={scale} now={false} onChoose={onSince} />
      <p class="ends quiet" aria-hidden="true">
        <span>{spoken(scale.from)}</span>
        <span>{t.now}</span>
      </p>
      <div class="row">
        <Button disabled={!line.previous} onClick={() => line.previous && show(line.previous.timestamp)}>
          {t.earlier}
        </Button>
        <Button disabled={!line.next} onClick={() => line.next && show(line.next.timestamp)}>
          {t.later}
        </Button>
        <Button disabled={view.moment.value === ''} onClick={() => show('')}>
          {text.top.now}
        </Button>
      </div>
      <p class="quiet">{t.keys}</p>
    </div>
  )
}

/** The moment that a key leads to. null: it leads nowhere from here. */
function step(key: string, line: Timeline): string | null | undefined {
  const beside = (by: number) => {
    const at = Date.parse(line.at?.timestamp ?? '')
    const i = line.buckets.findIndex((b) => Date.parse(b.until) >= at)
    return line.buckets[Math.max(i, 0) + by]?.until ?? (by < 0 ? (line.since?.timestamp ?? null) : '')
  }
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return line.previous?.timestamp ?? null
    case 'ArrowRight':
    case 'ArrowUp':
      return line.next?.timestamp ?? ''
    case 'PageDown':
      return beside(-1)
    case 'PageUp':
      return beside(1)
    case 'Home':
      return line.since?.timestamp ?? null
    case 'End':
      return ''
    default:
      return undefined
  }
}

interface HandleProps {
  label: string
  at: number
  scale: Scale
  now: boolean
  /** Of at, which tells moments within a second apart. */
  version?: number | undefined
  onKeyDown?: (e: KeyboardEvent) => void
  onChoose: (moment: string) => void
}

function Handle({ label, at, scale, now, version, onKeyDown, onChoose }: HandleProps) {
  const [dragged, drag] = useState<number>()
  useEffect(() => drag(undefined), [at])
  const position = dragged ?? positionOf(at, scale)
  const isNow = dragged === undefined ? now : dragged === positions
  const said = isNow ? t.now : dragged !== undefined ? spoken(momentOf(dragged, scale)) : version ? t.at(spoken(at), version) : spoken(at)
  const choose = (p: number) => onChoose(p === positions ? '' : momentOf(p, scale))
  return (
    <label class="handle">
      <span>
        {label}: <b>{said}</b>
      </span>
      <input
        type="range"
        min={0}
        max={positions}
        value={position}
        aria-label={label}
        aria-valuetext={said}
        onInput={(e) => drag(e.currentTarget.valueAsNumber)}
        onChange={(e) => choose(e.currentTarget.valueAsNumber)}
        {...(onKeyDown && { onKeyDown })}
      />
    </label>
  )
}

const height = 100

/** How many changes each span has. Those between the handles stand out. */
function Bars({ line, scale, from, to }: { line: Timeline; scale: Scale; from: number; to: number }) {
  const most = Math.max(1, ...line.buckets.map((b) => b.changes))
  const width = line.buckets.length
  return (
    <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={t.bars(line.changes, most)}>
      {line.buckets.map((b, i) => {
        if (b.changes === 0) return null
        const high = Math.max(6, Math.sqrt(b.changes / most) * height) // the root: a single change stays visible beside an import
        const end = scale.from + ((scale.to - scale.from) * (i + 1)) / width
        const within = end > from && end - (scale.to - scale.from) / width < to
        return (
          <rect key={i} class={within ? 'within' : ''} x={i + 0.1} y={height - high} width={0.8} height={high}>
            <title>{t.bar(b.changes, spoken(b.until))}</title>
          </rect>
        )
      })}
    </svg>
  )
}
