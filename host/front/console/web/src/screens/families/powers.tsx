import { useState } from 'preact/hooks'
import { amount } from '../../figures'
import { mayAct } from '../../deed'
import { Button, Chip, Empty, Plain, Scroll, Select } from '../../parts'
import * as text from '../../text'
import { change } from './lock'
import type { Capability, HookAsked, Info, OnFailure } from './wire'

const t = text.families

/** What a family asked for, what it was granted, and its limits. */
export function Powers({ family: f }: { family: Info }) {
  const asked = f.manifest.capabilities ?? []
  return (
    <>
      <p class="quiet">{f.grant.follows_posture ? t.powers.follows : t.powers.lead}</p>
      {asked.length === 0 ? (
        <Empty title={t.powers.none} />
      ) : (
        <ul class="list">
          {asked.map((c) => (
            <Power key={c.name} family={f} asked={c} />
          ))}
        </ul>
      )}
      <Hooks family={f} />
      <Limits family={f} />
    </>
  )
}

function Power({ family: f, asked }: { family: Info; asked: Capability }) {
  const has = (f.grant.capabilities ?? []).filter((c) => c.name === asked.name)
  const grant = () => grantOf(f, { capabilities: [{ name: asked.name, scope: asked.scope }] }, t.powers.grant(f.manifest.name, asked.name, scopeOf(asked.scope)))
  const revoke = () => revokeOf(f, asked.name, t.powers.withdraw(f.manifest.name, asked.name))
  return (
    <li class="power">
      <div>
        <strong>{t.power(asked.name)}</strong> <code>{asked.name}</code>
        {asked.scope && <span class="quiet"> {t.powers.scope(asked.name, scopeOf(asked.scope))}</span>}
        {asked.reason && (
          <p class="quiet">
            {t.powers.reason} <Plain>{asked.reason}</Plain>
          </p>
        )}
        {has.map((c) => (c.during || scopeOf(c.scope) !== scopeOf(asked.scope)) && <p key={c.during}>{t.powers.only(scopeOf(c.scope), c.during)}</p>)}
      </div>
      <Held on={has.length > 0} byPosture={f.by_posture?.includes(asked.name)} denied={f.grant.denied?.includes(asked.name)} />
      {mayAct() && !f.fault && <Button onClick={() => void (has.length > 0 ? revoke() : grant())}>{has.length > 0 ? t.powers.withdrawIt : t.powers.grantIt}</Button>}
    </li>
  )
}

function Held({ on, byPosture, denied }: { on: boolean; byPosture?: boolean | undefined; denied?: boolean | undefined }) {
  if (on) return <Chip tone="good">{byPosture ? t.powers.byPosture : t.powers.granted}</Chip>
  return <Chip tone={denied ? 'warn' : ''}>{denied ? t.powers.denied : t.powers.not}</Chip>
}

const scopeOf = (scope?: string[]) => (scope ?? []).join(', ')

interface Words {
  title: string
  says: string
  go: string
  done: string
}

function grantOf(f: Info, what: object, words: Words) {
  const request = { family: f.manifest.name, digest: f.digest, ...what }
  return change({ proposal: { grant: request }, name: 'family-grant', request, ...words })
}

const revokeOf = (f: Info, what: string, words: Words) => grantOf(f, { revoke: [what] }, words)

type Name = keyof typeof t.hooks.means

function Hooks({ family: f }: { family: Info }) {
  const { jobs, ...others } = f.manifest.hooks ?? {}
  const asked = [...Object.entries(others), ...(jobs?.length ? [['job', {}] as [string, HookAsked]] : [])] as [Name, HookAsked][]
  if (asked.length === 0) return null
  return (
    <section class="below">
      <h2>{t.hooks.title}</h2>
      <p class="quiet">{t.hooks.lead}</p>
      <ul class="list">
        {asked.map(([name, hook]) => (
          <Hook key={name} family={f} name={name} asked={hook} />
        ))}
      </ul>
    </section>
  )
}

function Hook({ family: f, name, asked }: { family: Info; name: Name; asked: HookAsked }) {
  const on = f.grant.hooks?.[name]
  const [failing, setFailing] = useState<OnFailure>(on?.on_failure ?? asked.on_failure ?? 'skip')
  const turnOn = () => grantOf(f, { hooks: { [name]: name === 'store' ? { on_failure: failing } : {} } }, t.hooks.on(f.manifest.name, name))
  return (
    <li class="power">
      <div>
        <strong>{t.hooks.means[name] ?? name}</strong> <code>{name}</code>
        {asked.collections && <p class="quiet">{t.hooks.sees(scopeOf(asked.collections))}</p>}
        {on?.on_failure && <p>{t.hooks.failing[on.on_failure]}</p>}
        {name === 'store' && !on && mayAct() && (
          <Select label={t.hooks.ifFails} value={failing} onChoose={(v) => setFailing(v as OnFailure)} choices={(['skip', 'defer', 'refuse'] as const).map((v) => [v, t.hooks.failing[v]])} />
        )}
      </div>
      <Held on={!!on} byPosture={f.by_posture?.includes('hook ' + name)} denied={f.grant.denied?.includes('hook ' + name)} />
      {mayAct() && !f.fault && <Button onClick={() => void (on ? revokeOf(f, name, t.hooks.off(f.manifest.name, name)) : turnOn())}>{on ? t.hooks.turnOff : t.hooks.turnOn}</Button>}
    </li>
  )
}

const budgets = ['http_calls_minute', 'http_request_bytes', 'http_response_bytes', 'http_ms', 'llm_calls_minute', 'llm_request_bytes', 'llm_response_bytes', 'llm_ms', 'llm_tokens_day']

function Limits({ family: f }: { family: Info }) {
  const outside = (f.manifest.capabilities ?? []).some((c) => c.name === 'http' || c.name === 'llm')
  const names = [...Object.keys(f.limits), ...(outside ? budgets.filter((b) => !f.limits[b]) : [])].sort()
  return (
    <section class="below">
      <h2>{t.limits.title}</h2>
      <p class="quiet">{t.limits.lead}</p>
      <Scroll label={t.limits.title}>
        <table>
          <thead>
            <tr>
              <th>{t.limits.name}</th>
              <th class="number">{t.limits.value}</th>
              <th class="number">{t.limits.default}</th>
              {mayAct() && <th>{t.limits.change}</th>}
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <Limit key={name} family={f} name={name} />
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

function Limit({ family: f, name }: { family: Info; name: string }) {
  const limit = f.limits[name]
  const [typed, type] = useState('')
  const set = (e: Event) => {
    e.preventDefault()
    void grantOf(f, { limits: { [name]: Number(typed) } }, t.limits.set(f.manifest.name, name, typed)).then((done) => done && type(''))
  }
  return (
    <tr>
      <td>
        {t.limits.means[name] ?? name} <code>{name}</code>
      </td>
      <td class="number">{limit ? amount(limit.value) : t.limits.unlimited}</td>
      <td class="number quiet">{limit?.default ? amount(limit.default) : t.limits.unlimited}</td>
      {mayAct() && (
        <td>
          <form class="row" onSubmit={set}>
            <input class="short" type="number" min="1" required aria-label={t.limits.label(name)} value={typed} onInput={(e) => type(e.currentTarget.value)} />
            <Button type="submit">{t.limits.setIt}</Button>
            {limit?.set && <Button onClick={() => void grantOf(f, { reset_limits: [name] }, t.limits.reset(f.manifest.name, name))}>{t.limits.resetIt}</Button>}
          </form>
        </td>
      )}
    </tr>
  )
}
