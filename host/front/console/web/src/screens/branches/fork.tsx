import { useState } from 'preact/hooks'
import { write } from '../../call'
import type { Failure } from '../../failure'
import { failed } from '../../load'
import { Button, Field, Problem, tell } from '../../parts'
import { visible } from '../../parts/value'
import { go, to } from '../../route'
import * as text from '../../text'
import { view } from '../../view'

const t = text.branches

/** Makes a branch that starts from another, as it is or was. */
export function Fork({ from }: { from: string }) {
  const [name, setName] = useState('')
  const [at, setAt] = useState(view.moment.value)
  const [failure, fail] = useState<Failure>()
  const fork = async () => {
    try {
      await write('memory_branch', { action: 'fork', source: from, name, ...(at && { as_of: at }) }, { branch: '' })
      fail(undefined)
      setName('')
      tell(t.forked(visible(name), visible(from)), { undo: { name: t.look, do: () => ((view.moment.value = ''), (view.branch.value = name)) } })
      go(to(['branches', name]))
    } catch (e) {
      fail(failed(e))
    }
  }
  return (
    <details class="forking">
      <summary>{t.fork(visible(from))}</summary>
      <form onSubmit={(e) => (e.preventDefault(), void fork())}>
        <Field label={t.newName} hint={t.nameHint} value={name} required onInput={(e) => setName(e.currentTarget.value)} />
        <Field label={t.forkAt} hint={t.forkAtHint} value={at} onInput={(e) => setAt(e.currentTarget.value)} />
        <Button type="submit" kind="main" disabled={!name}>
          {t.forkGo}
        </Button>
      </form>
      {failure && <Problem failure={failure} />}
    </details>
  )
}
