import { useState } from 'preact/hooks'
import * as text from '../text'
import { Button } from './controls'

// Control characters, and those that turn the direction of text, would hide or reorder what surrounds them.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g

/** Text from outside, whose invisible characters are shown as their code points. */
export function visible(s: string): string {
  return s.replace(unseen, (c) => `\u2039U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}\u203a`)
}

/** Text from outside, in one line of its own direction. */
export function Plain({ children }: { children: string }) {
  return <bdi>{visible(children)}</bdi>
}

const shownAtFirst = 2000 // characters

/** A value of any type: a text as it is, everything else as indented JSON. Long ones open on demand. */
export function Value({ of }: { of: unknown }) {
  const [all, showAll] = useState(false)
  const whole = typeof of === 'string' ? of : JSON.stringify(of, null, 2) ?? ''
  const shown = all ? whole : whole.slice(0, shownAtFirst)
  return (
    <div class={typeof of === 'string' ? 'value' : 'value json'} dir="auto">
      {visible(shown)}
      {shown.length < whole.length && (
        <>
          … <Button onClick={() => showAll(true)}>{text.more}</Button>
        </>
      )}
    </div>
  )
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

// Formats are slow to make, and lists have a hundred moments.
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** A moment as the distance to now; the whole moment is its title. */
export function Moment({ at, now = Date.now() }: { at: string; now?: number }) {
  const then = new Date(at)
  if (Number.isNaN(then.getTime())) return <Plain>{at}</Plain>
  return (
    <time datetime={at} title={exact.format(then)}>
      {ago(then.getTime(), now)}
    </time>
  )
}

/** The distance from now to a moment, both in ms, in the reader's words. */
export function ago(then: number, now: number): string {
  const seconds = (then - now) / 1000
  const [unit, length] = steps.find(([, s]) => Math.abs(seconds) >= s) ?? ['second', 1]
  return relative.format(Math.round(seconds / length), unit)
}
