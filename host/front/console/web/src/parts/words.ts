/** A piece of a text, and whether only the text before has it, only the one after, or both. */
export interface Piece {
  text: string
  in: 'both' | 'before' | 'after'
}

const mostCells = 4_000_000 // of the table that compares two texts; larger ones are compared by lines, or not at all

const words = /\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu
const lines = /[^\n]*\n|[^\n]+$/g

/** Compares two texts word by word, or line by line. */
export function compared(before: string, after: string, by: 'words' | 'lines' = 'words'): Piece[] {
  for (const unit of by === 'words' ? [words, lines] : [lines]) {
    const a = before.match(unit) ?? []
    const b = after.match(unit) ?? []
    const start = sameAtStart(a, b)
    const end = sameAtEnd(a, b, start)
    const left = a.slice(start, a.length - end)
    const right = b.slice(start, b.length - end)
    if (left.length * right.length > mostCells) continue
    return joined([
      ...a.slice(0, start).map((text): Piece => ({ text, in: 'both' })),
      ...aligned(left, right),
      ...a.slice(a.length - end).map((text): Piece => ({ text, in: 'both' })),
    ])
  }
  return joined([
    { text: before, in: 'before' },
    { text: after, in: 'after' },
  ])
}

function sameAtStart(a: string[], b: string[]): number {
  let n = 0
  while (n < a.length && n < b.length && a[n] === b[n]) n++
  return n
}

function sameAtEnd(a: string[], b: string[], start: number): number {
  let n = 0
  while (n < a.length - start && n < b.length - start && a[a.length - 1 - n] === b[b.length - 1 - n]) n++
  return n
}

/** Aligns two lists by their longest common part: rest[i][j] is its length from a[i] and b[j] on. */
function aligned(a: string[], b: string[]): Piece[] {
  const width = b.length + 1
  const rest = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) rest[i * width + j] = a[i] === b[j] ? rest[(i + 1) * width + j + 1]! + 1 : Math.max(rest[(i + 1) * width + j]!, rest[i * width + j + 1]!)
  const pieces: Piece[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      pieces.push({ text: a[i]!, in: 'both' })
      i++
      j++
    } else if (j >= b.length || (i < a.length && rest[(i + 1) * width + j]! >= rest[i * width + j + 1]!)) pieces.push({ text: a[i++]!, in: 'before' })
    else pieces.push({ text: b[j++]!, in: 'after' })
  }
  return pieces
}

/** Joins neighbours of one kind; what was removed between two words that stay goes before what was added. */
function joined(pieces: Piece[]): Piece[] {
  const list: Piece[] = []
  let before = ''
  let after = ''
  const flush = () => {
    if (before) list.push({ text: before, in: 'before' })
    if (after) list.push({ text: after, in: 'after' })
    before = after = ''
  }
  for (const p of pieces) {
    if (p.in === 'before') before += p.text
    else if (p.in === 'after') after += p.text
    else if (p.text.trim() === '' && (before || after)) {
      // White space between two changed words belongs to the change: otherwise a sentence falls into crumbs.
      before += p.text
      after += p.text
    } else {
      const space = trailing(before, after)
      before = before.slice(0, before.length - space.length)
      after = after.slice(0, after.length - space.length)
      flush()
      const last = list.at(-1)
      if (last?.in === 'both') last.text += space + p.text
      else list.push({ text: space + p.text, in: 'both' })
    }
  }
  const space = trailing(before, after)
  before = before.slice(0, before.length - space.length)
  after = after.slice(0, after.length - space.length)
  flush()
  if (space) list.push({ text: space, in: 'both' })
  return list.filter((p) => p.text)
}

function trailing(before: string, after: string): string {
  const a = /\s*$/.exec(before)![0]
  return a && after.endsWith(a) ? a : ''
}
