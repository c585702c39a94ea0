import { useMemo, useState } from 'preact/hooks'
import * as text from '../text'
import { Button } from './controls'
import { visible } from './value'
import { compared } from './words'

const shownAtFirst = 2000 // characters

/** A value as text: a text as it is, everything else as indented JSON. */
export function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? ''
}

/** What became of a value: the words of a text that changed are marked, the lines of everything else. A missing side is undefined. */
export function Diff({ before, after }: { before: unknown; after: unknown }) {
  const [all, showAll] = useState(false)
  const json = [before, after].some((v) => v !== undefined && typeof v !== 'string')
  const pieces = useMemo(() => compared(written(before), written(after), json ? 'lines' : 'words'), [before, after])
  let room = all ? Infinity : shownAtFirst
  let cut = false
  return (
    <div class={json ? 'value json diff lines' : 'value diff'} dir="auto">
      {pieces.map((p, i) => {
        const near = all || p.in !== 'both' ? p.text : around(p.text, json, i === 0, i === pieces.length - 1)
        const part = near.slice(0, Math.max(room, 0))
        // A changed line is a block, which ends by itself: its line break would be an empty line after it.
        const shown = visible(!json ? part : p.in !== 'both' ? part.replace(/\n$/, '') : i > 0 ? part.replace(/^\n/, '') : part)
        room -= near.length
        cut ||= near !== p.text || room < 0
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
      {cut && (
        <>
          {' '}
          <Button onClick={() => showAll(true)}>{text.more}</Button>
        </>
      )}
    </div>
  )
}

/** What stands next to changes of a part that did not change. */
function around(s: string, json: boolean, first: boolean, last: boolean): string {
  const units = json ? s.split(/(?<=\n)/) : s.split(/(?<=\s)/)
  const near = json ? 3 : 25
  if (units.length <= 2 * near + 5) return s
  return [...(first ? [] : units.slice(0, near)), json ? '⋯\n' : '⋯ ', ...(last ? [] : units.slice(-near))].join('')
}
