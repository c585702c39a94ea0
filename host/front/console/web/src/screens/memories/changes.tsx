import { useMemo } from 'preact/hooks'
import { visible } from '../../parts/value'
import { text } from '../../text'
import { difference, type Piece } from './diff'

const around = 3 // lines that are shown beside a change
const aroundWords = 160 // characters

/** What differs between two values: words of texts, lines of everything else. */
export function Changes({ before, after }: { before: unknown; after: unknown }) {
  const { pieces, lines } = useMemo(() => difference(before, after), [before, after])
  if (pieces.every((p) => p.is === 'same')) return <p class="quiet">{text.memories.sameValue}</p>
  return (
    <div class={lines ? 'value diff json' : 'value diff'} dir="auto">
      {pieces.map((p, i) => (
        <Part key={i} p={p} first={i === 0} last={i === pieces.length - 1} lines={lines} />
      ))}
    </div>
  )
}

function Part({ p, first, last, lines }: { p: Piece; first: boolean; last: boolean; lines: boolean }) {
  if (p.is === 'added') return <ins>{visible(p.text)}</ins>
  if (p.is === 'removed') return <del>{visible(p.text)}</del>
  return <span>{visible(lines ? nearLines(p.text, first, last) : nearWords(p.text, first, last))}</span>
}

/** The beginning and the end of what did not change. */
function nearLines(s: string, first: boolean, last: boolean): string {
  const all = s.split(/(?<=\n)/)
  if (all.length <= 2 * around + 1) return s
  return [...(first ? [] : all.slice(0, around)), '⋯\n', ...(last ? [] : all.slice(-around))].join('')
}

function nearWords(s: string, first: boolean, last: boolean): string {
  if (s.length <= 2 * aroundWords + 20) return s
  return `${first ? '' : s.slice(0, aroundWords)} ⋯ ${last ? '' : s.slice(-aroundWords)}`
}
