import type { ComponentChildren } from 'preact'
import type { Failure } from '../failure'
import type { Load } from '../load'
import * as text from '../text'
import { Button, Copy } from './controls'

/** Shows what was read, or why it was not. */
export function Loaded<T>({ of, children }: { of: Load<T>; children: (value: T) => ComponentChildren }) {
  if (of.value !== undefined)
    return (
      <>
        {of.failure && <Problem failure={of.failure} again={of.again} />}
        <div class="loaded" aria-busy={of.busy}>{children(of.value)}</div>
      </>
    )
  if (of.failure) return <Problem failure={of.failure} again={of.again} />
  return <p class="quiet busy">{text.busy}</p>
}

/** A failure, in the server's words: they say what to do. */
export function Problem({ failure, again }: { failure: Failure; again?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{failure.message}</p>
      {again && <Button onClick={again}>{text.failure.again}</Button>}
    </div>
  )
}

/** What stands where there is nothing yet: what would be here, and how it gets here. */
export function Empty({ title, hint, command }: { title: string; hint?: ComponentChildren; command?: string }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {hint && <p>{hint}</p>}
      {command && <Copy command={command} />}
    </div>
  )
}

export function Note({ tone = '', children }: { tone?: string; children: ComponentChildren }) {
  return <div class={`note ${tone}`}>{children}</div>
}

/** What may be wider than the page: it scrolls by itself, by keyboard, too. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  )
}
