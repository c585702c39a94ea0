import { useEffect, useRef, useState } from 'preact/hooks'
import { Failure } from './failure'
import * as text from './text'

/** What is read from the server: its value stays while it is read again. */
export interface Load<T> {
  value?: T
  failure?: Failure
  busy: boolean
  again: () => void
}

/**
 * Reads when a part of by changes, and cancels the former read. by holds texts, numbers and truth values; wait delays the read in ms, for
 * what is typed.
 */
export function useLoad<T>(read: (abort: AbortSignal) => Promise<T>, by: unknown[], wait = 0): Load<T> {
  const [load, set] = useState<{ value?: T; failure?: Failure; busy: boolean }>({ busy: true })
  const [turn, setTurn] = useState(0)
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    const abort = new AbortController()
    set((was) => ({ ...was, busy: true }))
    const timer = setTimeout(() => {
      latest.current(abort.signal).then(
        (value) => !abort.signal.aborted && set({ value, busy: false }),
        (e: unknown) => !abort.signal.aborted && set((was) => ({ ...was, failure: failed(e), busy: false })),
      )
    }, wait)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [...by, turn])
  return { ...load, again: () => setTurn((n) => n + 1) }
}

/** Rises every so many ms while the page is seen, for what is to be read again and again. */
export function useTick(every: number): number {
  const [tick, set] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => document.hidden || set((n) => n + 1), every)
    return () => clearInterval(timer)
  }, [every])
  return tick
}

/** Any error as a failure that can be shown. */
export function failed(e: unknown): Failure {
  return e instanceof Failure ? e : new Failure('internal', `${text.failure.unexpected}: ${e instanceof Error ? e.message : String(e)}`)
}
