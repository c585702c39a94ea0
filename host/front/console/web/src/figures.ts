/** A whole number in the reader's way of writing. */
export const amount = (n: number) => n.toLocaleString('en')

const units = ['B', 'kB', 'MB', 'GB', 'TB']

/** Bytes as a short text. */
export function size(bytes: number): string {
  const unit = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return short(bytes / 1000 ** unit) + ' ' + units[unit]
}

/** A large number as a short text, such as 1.2 M. */
export function short(n: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }).format(n)
}

/** Milliseconds as a short text. */
export function duration(ms: number): string {
  if (ms >= 60_000) return short(ms / 60_000) + ' min'
  return ms >= 1000 ? short(ms / 1000) + ' s' : short(ms) + ' ms'
}
