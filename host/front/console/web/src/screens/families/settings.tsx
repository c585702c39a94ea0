import { useState } from 'preact/hooks'
import { act, look } from '../../api'
import { written } from '../../call'
import { attempt, mayAct } from '../../deed'
import { failed, useLoad } from '../../load'
import { ask, Button, Chip, Empty, Loaded, Moment, Plain, tell, Value } from '../../parts'
import * as text from '../../text'
import { Input, parse, show } from './input'
import type { Info, Setting, SettingVersion } from './wire'

const t = text.families.settings

/** The settings of a family: its own, and those that it shares with others. */
export function Settings({ family: f }: { family: Info }) {
  const name = f.manifest.name
  const settings = useLoad((abort) => look<Setting[]>('settings', { family: name }, abort), [name, written.value])
  return (
    <Loaded of={settings}>
      {(all) => {
        const list = all.filter((s) => s.families.includes(name))
        if (list.length === 0) return <Empty title={t.none} hint={t.noneHint} />
        return (
          <ul class="list">
            {list.map((s) => (
              <Row key={s.key} setting={s} family={name} own={f.config !== undefined && s.key in f.config} />
            ))}
          </ul>
        )
      }}
    </Loaded>
  )
}

interface Scope {
  scope: 'family' | 'system'
  name?: string
}

function Row({ setting: s, family, own }: { setting: Setting; family: string; own: boolean }) {
  const scope: Scope = own ? { scope: 'family', name: family } : { scope: 'system' }
  const [typed, type] = useState<string | undefined>()
  const [open, setOpen] = useState(false)
  const save = async (value: unknown) => {
    if (!(await ask({ title: t.change(s.key), will: <Change before={s.value} after={value ?? s.default} says={own ? t.own(family) : t.shared(s.families)} />, go: t.save }))) return
    const done = await attempt(async () => {
      const [changed] = await act<{ change?: string }[]>('settings-change', { ...scope, changes: [{ key: s.key, value: value ?? null }], reason: 'console' })
      tell(t.saved(s.key), changed?.change ? { undo: { name: t.undo, do: () => void attempt(() => act('settings-undo', { ...scope, change: changed.change }), t.undone(s.key)) } } : {})
    })
    if (done) type(undefined)
  }
  const submit = (e: Event) => {
    e.preventDefault()
    try {
      void save(parse(s.schema, s.default, typed ?? show(s.value)))
    } catch (error) {
      tell(failed(error).message, { bad: true })
    }
  }
  return (
    <li>
      <div class="row">
        <strong>
          <Plain>{s.key}</Plain>
        </strong>
        {s.source !== 'default' && (
          <Chip tone="good">
            <Plain>{s.source}</Plain>
          </Chip>
        )}
        {s.families.length > 1 && <Chip>{t.sharedBy(s.families.length)}</Chip>}
      </div>
      {s.description && (
        <p class="quiet">
          <Plain>{s.description}</Plain>
        </p>
      )}
      <form class="row" onSubmit={submit}>
        <Input label={s.key} schema={s.schema} standard={s.default} value={typed ?? show(s.value)} disabled={!mayAct()} onType={type} />
        {mayAct() && typed !== undefined && typed !== show(s.value) && (
          <>
            <Button type="submit" kind="main">
              {t.save}
            </Button>
            <Button onClick={() => type(undefined)}>{text.dialog.cancel}</Button>
          </>
        )}
        {mayAct() && s.source !== 'default' && <Button onClick={() => void save(undefined)}>{t.reset}</Button>}
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          {t.history}
        </Button>
      </form>
      {open && <History of={s} scope={scope} />}
    </li>
  )
}

function Change({ before, after, says }: { before: unknown; after: unknown; says: string }) {
  return (
    <>
      <p>
        <Plain>{says}</Plain>
      </p>
      <p class="quiet">{t.before}</p>
      <Value of={before} />
      <p class="quiet">{t.after}</p>
      <Value of={after} />
    </>
  )
}

function History({ of: s, scope }: { of: Setting; scope: Scope }) {
  const history = useLoad((abort) => look<{ versions: SettingVersion[] | null }>('setting-history', { ...scope, key: s.key }, abort), [s.key, written.value])
  const back = async (v: SettingVersion) => {
    if (!(await ask({ title: t.change(s.key), will: <Change before={s.value} after={v.after ?? s.default} says={t.backTo(v.version)} />, go: t.rollBack }))) return
    await attempt(() => act('setting-rollback', { ...scope, key: s.key, to: v.version, reason: 'console' }), t.saved(s.key))
  }
  return (
    <Loaded of={history}>
      {({ versions }) =>
        !versions?.length ? (
          <p class="quiet">{t.noHistory}</p>
        ) : (
          <ol class="bare history">
            {versions.map((v, i) => (
              <li key={v.version}>
                <div class="row">
                  <span>v{v.version}</span> <Moment at={v.at} />
                  <Plain>{v.agent ?? v.family ?? ''}</Plain>
                  {v.reason && (
                    <span class="quiet">
                      <Plain>{v.reason}</Plain>
                    </span>
                  )}
                  {i > 0 && mayAct() && <Button onClick={() => void back(v)}>{t.rollBack}</Button>}
                </div>
                <Value of={v.after ?? t.unset} />
              </li>
            ))}
          </ol>
        )
      }
    </Loaded>
  )
}
