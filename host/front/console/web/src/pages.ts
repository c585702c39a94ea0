import { useState } from 'preact/hooks'
import { failed } from './load'
import { tell } from './parts'

/** Pages of a list: the first, and those that were asked for since it was read. more reads one; it is missing at the end. */
export function usePages<T extends { next?: string }>(first: T, read: (after: string) => Promise<T>): { pages: T[]; more?: () => Promise<void> } {
  const [further, set] = useState<{ of: T; pages: T[] }>({ of: first, pages: [] })
  const pages = [first, ...(further.of === first ? further.pages : [])]
  const next = pages.at(-1)!.next
  if (!next) return { pages }
  const more = async () => {
    try {
      const page = await read(next)
      set({ of: first, pages: [...pages.slice(1), page] })
    } catch (e) {
      tell(failed(e).message, { bad: true })
    }
  }
  return { pages, more }
}
