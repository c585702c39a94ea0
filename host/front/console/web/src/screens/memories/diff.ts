/** A piece of text that both versions have, or only the new one (added), or only the old one (removed). */
export interface Piece {
  is: 'same' | 'added' | 'removed'
  text: string
}

const mostEdits = 1500 // beyond, what differs is shown as replaced: a reader could not follow it anyway

/** The difference of two values: of texts by words, of everything else by lines of JSON. */
export function difference(before: unknown, after: unknown): { pieces: Piece[]; lines: boolean } {
  const words = typeof before === 'string' && typeof after === 'string'
  const split = words ? wordsOf : linesOf
  return { pieces: compare(split(written(before)), split(written(after))), lines: !words }
}

/** A value as text. */
export function written(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
}

const wordsOf = (s: string) => s.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []
const linesOf = (s: string) => s.match(/[^\n]*\n|[^\n]+/g) ?? []

/** Compares lists of tokens. Equal neighbours are joined. */
export function compare(a: string[], b: string[]): Piece[] {
  let from = 0
  while (from < a.length && from < b.length && a[from] === b[from]) from++
  let end = 0
  while (end < a.length - from && end < b.length - from && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const middle = edits(a.slice(from, a.length - end), b.slice(from, b.length - end))
  return joined([...a.slice(0, from).map(same), ...middle, ...a.slice(a.length - end).map(same)])
}

const same = (text: string): Piece => ({ is: 'same', text })

/**
 * The shortest edit script (Myers 1986). reach[k] is how far in a the furthest path on diagonal k comes; trail keeps it for each number of
 * edits, to walk back.
 */
function edits(a: string[], b: string[]): Piece[] {
  const most = Math.min(a.length + b.length, mostEdits)
  const reach = new Map<number, number>([[1, 0]])
  const trail: Map<number, number>[] = []
  for (let d = 0; d <= most; d++) {
    trail.push(new Map(reach))
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && at(reach, k - 1) < at(reach, k + 1))
      let x = down ? at(reach, k + 1) : at(reach, k - 1) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      reach.set(k, x)
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, trail)
    }
  }
  return [...a.map((text): Piece => ({ is: 'removed', text })), ...b.map((text): Piece => ({ is: 'added', text }))]
}

const at = (reach: Map<number, number>, k: number) => reach.get(k) ?? -1

function walkBack(a: string[], b: string[], trail: Map<number, number>[]): Piece[] {
  const pieces: Piece[] = []
  let x = a.length
  let y = b.length
  for (let d = trail.length - 1; d >= 0; d--) {
    const reach = trail[d]!
    const k = x - y
    const down = k === -d || (k !== d && at(reach, k - 1) < at(reach, k + 1))
    const fromX = d === 0 ? 0 : at(reach, down ? k + 1 : k - 1)
    const fromY = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1)
    while (x > fromX && y > fromY) {
      pieces.push(same(a[--x]!))
      y--
    }
    if (d > 0) pieces.push(down ? { is: 'added', text: b[--y]! } : { is: 'removed', text: a[--x]! })
  }
  return pieces.reverse()
}

/** Joins neighbours of a kind, and has what was removed stand before what was added in its place. */
function joined(pieces: Piece[]): Piece[] {
  const out: Piece[] = []
  let gone = ''
  let come = ''
  const flush = () => {
    if (gone) out.push({ is: 'removed', text: gone })
    if (come) out.push({ is: 'added', text: come })
    gone = come = ''
  }
  for (const p of pieces) {
    if (p.is === 'removed') gone += p.text
    else if (p.is === 'added') come += p.text
    else {
      flush()
      const last = out.at(-1)
      if (last?.is === 'same') last.text += p.text
      else out.push({ ...p })
    }
  }
  flush()
  return out
}
