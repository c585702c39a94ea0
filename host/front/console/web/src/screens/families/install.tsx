import { useState } from 'preact/hooks'
import { attempt, mayAct } from '../../deed'
import { Button, Copy, Field, Note } from '../../parts'
import { go, to } from '../../route'
import * as text from '../../text'
import { change } from './lock'

const t = text.families.install

/** Installs a module that the operator has as a file. */
export function Install() {
  if (!mayAct()) return <Note>{t.cannot}</Note>
  return (
    <section class="card">
      <h2>{t.title}</h2>
      <p>{t.lead}</p>
      <Files
        onChosen={async (module) => {
          if (await change({ proposal: { install: module }, name: 'family-install', request: module, ...t.deed(module.source) })) go(to(['families']))
        }}
      />
      <p class="quiet">{t.orCommand}</p>
      <Copy command="alcove family install oci://REGISTRY/NAME:VERSION" />
    </section>
  )
}

/** Replaces an installed family by another version. */
export function Replace({ name }: { name: string }) {
  return (
    <Files
      onChosen={async (module) => {
        const update = { family: name, ...module }
        await change({ proposal: { update }, name: 'family-update', request: update, ...t.replace(name, module.source) })
      }}
    />
  )
}

interface Module {
  module: string // base64
  signature?: string
  source: string
}

function Files({ onChosen }: { onChosen: (m: Module) => Promise<void> }) {
  const [module, setModule] = useState<File>()
  const [signature, setSignature] = useState<File>()
  const [busy, setBusy] = useState(false)
  const submit = async (e: Event) => {
    e.preventDefault()
    if (!module) return
    setBusy(true)
    await attempt(async () => onChosen({ module: await base64(module), ...(signature && { signature: await base64(signature) }), source: module.name }))
    setBusy(false)
  }
  return (
    <form class="stack" onSubmit={(e) => void submit(e)}>
      <Field label={t.module} hint={t.moduleHint} type="file" accept=".wasm,application/wasm" required onChange={(e) => setModule(e.currentTarget.files?.[0])} />
      <Field label={t.signature} hint={t.signatureHint} type="file" onChange={(e) => setSignature(e.currentTarget.files?.[0])} />
      <Button type="submit" kind="main" disabled={!module || busy}>
        {t.look}
      </Button>
    </form>
  )
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve((reader.result as string).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error ?? new Error(t.unreadable))
    reader.readAsDataURL(file)
  })
}
