import { useState } from 'preact/hooks'
import type { Failure } from './failure'
import { Button, Copy, Field, Problem } from './parts'
import { logIn } from './session'
import * as text from './text'

/** What is shown without a session. */
export function Login({ why }: { why?: Failure }) {
  const [key, setKey] = useState('')
  const [busy, setBusy] = useState(false)
  const go = async (e: Event) => {
    e.preventDefault()
    setBusy(true)
    await logIn({ key: key.trim() })
    setBusy(false)
  }
  return (
    <main class="middle login">
      <h1>{text.login.title}</h1>
      {why && <Problem failure={why} />}
      <p>{text.login.lead}</p>
      <Copy command={text.login.command} />
      <form onSubmit={go}>
        <p>{text.login.or}</p>
        <Field label={text.login.key} type="password" autocomplete="off" required value={key} onInput={(e) => setKey(e.currentTarget.value)} />
        <Button kind="main" type="submit" disabled={busy}>
          {text.login.go}
        </Button>
      </form>
    </main>
  )
}
