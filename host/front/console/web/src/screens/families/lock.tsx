import { act, look } from '../../api'
import { attempt } from '../../deed'
import { failed } from '../../load'
import { ask, Plain, tell } from '../../parts'
import * as text from '../../text'
import type { LockChange } from './wire'

const t = text.families.lock

interface Deed {
  /** The request of lock-propose that shows what will change. */
  proposal: object
  title: string
  says: string
  go: string
  danger?: boolean
  /** The act with its request. */
  name: string
  request: object
  done: string
}

/** Shows what a deed would change in the lock file, asks, and does it. Returns whether it was done. */
export async function change(d: Deed): Promise<boolean> {
  let diff: LockChange
  try {
    diff = await look<LockChange>('lock-propose', d.proposal)
  } catch (e) {
    tell(failed(e).message, { bad: true })
    return false
  }
  const will = (
    <>
      <p>
        <Plain>{d.says}</Plain>
      </p>
      <Difference of={diff} />
    </>
  )
  if (!(await ask({ title: d.title, will, go: d.go, danger: !!d.danger }))) return false
  return attempt(() => act(d.name, d.request), d.done)
}

/** What changes in the lock file, and for families by their posture. */
export function Difference({ of }: { of: LockChange }) {
  const lines = of.lines ?? []
  return (
    <>
      {of.families && (
        <ul>
          {of.families.map((line) => (
            <li key={line}>
              <Plain>{line}</Plain>
            </li>
          ))}
        </ul>
      )}
      {lines.length === 0 ? (
        <p class="quiet">{t.same}</p>
      ) : (
        <details open={lines.length <= 12}>
          <summary>{t.lines(lines.length)}</summary>
          <pre class="difference" tabIndex={0}>
            {lines.map((line, i) => (
              <span key={i} class={line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : ''}>
                <Plain>{line}</Plain>
                {'\n'}
              </span>
            ))}
          </pre>
        </details>
      )}
    </>
  )
}
