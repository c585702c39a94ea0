import { useState } from 'preact/hooks'
import { text } from '../text'
import { Button } from './controls'
import { visible } from './value'
import { compared } from './words'

const shownAtFirst = 2000 // characters

/** A value as text: a text as it is, everything else as indented JSON. */
export function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? ''
}

/** What became of a value, with the words that changed marked. A missing side is undefined. */
export function Diff({ before, after }: { before: unknown; after: unknown }) {
  const [all, showAll] = useState(false)
  const json = [before, after].some((v) => v !== undefined && typeof v !== 'string')
  let room = all ? Infinity : shownAtFirst
  const pieces = compared(written(before), written(after))
  const length = pieces.reduce((n, p) => n + p.text.length, 0)
  return (
    <div class={json ? 'value json diff' : 'value diff'} dir="auto">
      {pieces.map((p, i) => {
        const shown = visible(p.text.slice(0, Math.max(room, 0)))
        room -= p.text.length
        if (!shown) return null
        if (p.in === 'both') return shown
        const Mark = p.in === 'before' ? 'del' : 'ins'
        return (
          <Mark key={i}>
            <span class="unseen">{text.diff[p.in]} </span>
            {shown}
            <span class="unseen"> {text.diff.end} </span>
          </Mark>
        )
      })}
      {!all && length > shownAtFirst && (
        <>
          … <Button onClick={() => showAll(true)}>{text.more}</Button>
        </>
      )}
    </div>
  )
}
