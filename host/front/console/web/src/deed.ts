import { failed } from './load'
import { tell } from './parts'
import { current } from './session'
import { past } from './view'

/** Whether acts of an operator that change something can be offered here and now. */
export function mayAct(): boolean {
  const s = current()
  return !!s && s.operator && !s.read_only && !s.locked && !past.value
}

/** Does something, and says that it is done, or why it is not. */
export async function attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work()
    if (done) tell(done)
    return true
  } catch (e) {
    tell(failed(e).message, { bad: true })
    return false
  }
}
