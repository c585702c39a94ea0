import { useState } from 'preact/hooks'
import { act, look } from '../../api'
import { written } from '../../call'
import { attempt, mayAct } from '../../deed'
import { amount, size } from '../../figures'
import { useLoad } from '../../load'
import { ask, Button, Chip, Copy, Empty, Field, Loaded, Moment, Note, Plain } from '../../parts'
import * as text from '../../text'

const t = text.operator.keys

interface Limits {
  calls_per_second?: number
  burst?: number
  concurrent?: number
  body_bytes?: number
}

interface Key {
  id: string
  agent: string
  namespaces: string[] | null
  rights: string[] | null
  created: string
  expires?: string
  revoked?: string
  limits?: Limits
  by?: { family?: string; client?: { id: string; name: string; resource: string }; parent?: string; principal?: string; depth: number }
}

interface List {
  required: boolean
  limits: Limits
  keys: Key[]
}

/** The API keys, each with those that were delegated from it. */
export function Keys() {
  const list = useLoad((abort) => look<List>('keys', {}, abort), [written.value])
  return (
    <Loaded of={list}>
      {(l) => (
        <>
          <Note>{l.required ? t.required : t.notRequired}</Note>
          {mayAct() && <Create />}
          {l.keys.length === 0 ? <Empty title={t.none} hint={t.noneHint} /> : <All keys={l.keys} />}
          <DefaultLimits of={l.limits} />
        </>
      )}
    </Loaded>
  )
}

const shown = 100 // keys at first

/** The keys that a word is in, each with those that were delegated from it. */
function All({ keys }: { keys: Key[] }) {
  const [word, setWord] = useState('')
  const [most, setMost] = useState(shown)
  const ids = new Set(keys.map((k) => k.id))
  const children = new Map<string, Key[]>()
  for (const k of keys) {
    const parent = k.by?.parent && ids.has(k.by.parent) ? k.by.parent : ''
    children.get(parent)?.push(k) ?? children.set(parent, [k])
  }
  const found = word ? keys.filter((k) => [k.id, k.agent, ...(k.namespaces ?? [])].some((s) => s.includes(word))) : (children.get('') ?? [])
  return (
    <>
      {keys.length > 5 && <input class="above" type="search" aria-label={t.find} placeholder={t.find} value={word} onInput={(e) => setWord(e.currentTarget.value.trim())} />}
      <Tree of={found.slice(0, most)} children={children} />
      {found.length > most && <Button onClick={() => setMost(most + shown)}>{text.more}</Button>}
    </>
  )
}

function Tree({ of, children }: { of: Key[]; children: Map<string, Key[]> }) {
  return (
    <ul class="list tree">
      {of.map((k) => {
        const below = children.get(k.id) ?? []
        return (
          <li key={k.id}>
            <One of={k} below={below.length} />
            {below.length > 0 && <Tree of={below} children={children} />}
          </li>
        )
      })}
    </ul>
  )
}

function One({ of: k, below }: { of: Key; below: number }) {
  const over = !!k.expires && new Date(k.expires).getTime() < Date.now()
  const rights = k.rights ?? []
  const revoke = async () => {
    if (await ask({ title: t.revokeIt(k.agent), will: t.revokeWill(k.id, below), go: t.revoke, danger: true })) await attempt(() => act('key-revoke', { id: k.id }), t.revoked(k.id))
  }
  const remove = async () => {
    if (await ask({ title: t.removeIt(k.agent), will: t.removeWill(k.id), go: t.remove, danger: true })) await attempt(() => act('key-delete', { id: k.id }), t.removed(k.id))
  }
  return (
    <>
      <div class="row">
        <strong>
          <Plain>{k.agent}</Plain>
        </strong>
        <code>{k.id}</code>
        {k.revoked ? <Chip tone="bad">{t.isRevoked}</Chip> : over ? <Chip tone="warn">{t.isOver}</Chip> : <Chip tone="good">{t.holds}</Chip>}
        {k.by && (
          <Chip>
            <Plain>{t.by(k.by.client ? k.by.client.name : (k.by.family ?? ''), k.by.principal ?? '')}</Plain>
          </Chip>
        )}
        {mayAct() && (
          <span class="row apart">
            {!k.revoked && <Button onClick={() => void revoke()}>{t.revoke}</Button>}
            <Button onClick={() => void remove()}>{t.remove}</Button>
          </span>
        )}
      </div>
      <p>
        {rights.map(t.right).join(', ')} {t.in} <Plain>{(k.namespaces ?? []).map(t.namespace).join(', ')}</Plain>
      </p>
      <p class="quiet">
        {t.created} <Moment at={k.created} />
        {k.expires && (
          <>
            , {t.expires} <Moment at={k.expires} />
          </>
        )}
        {k.revoked && (
          <>
            , {t.isRevoked} <Moment at={k.revoked} />
          </>
        )}
        {k.limits && Object.keys(k.limits).length > 0 && <>, {limitsOf(k.limits)}</>}
      </p>
    </>
  )
}

const limitsOf = (l: Limits) => t.limitsAre(l.calls_per_second ? amount(l.calls_per_second) : '', l.concurrent ? amount(l.concurrent) : '', l.body_bytes ? size(l.body_bytes) : '')

const offered = ['read', 'write', 'branch', 'config', 'scope.admin', 'site.admin', 'act_as']

function Create() {
  const [agent, setAgent] = useState('')
  const [namespaces, setNamespaces] = useState('')
  const [rights, setRights] = useState(['read', 'write'])
  const [families, setFamilies] = useState('')
  const [expires, setExpires] = useState('')
  const [issued, setIssued] = useState<{ id: string; agent: string; secret: string; narrowed?: boolean }>()
  const list = (s: string) => s.split(/[\s,]+/).filter(Boolean)
  const create = async (e: Event) => {
    e.preventDefault()
    const request = { agent: agent.trim(), namespaces: list(namespaces), rights: [...rights, ...list(families).map((f) => 'family:' + f)], ...(expires.trim() && { expires: expires.trim() }) }
    const may = request.rights.map(t.right).join(', ')
    if (!(await ask({ title: t.createIt(request.agent), will: t.createWill(may, request.namespaces.map(t.namespace).join(', '), request.expires ?? ''), go: t.create }))) return
    const done = await attempt(async () => setIssued(await act('key-create', request)))
    if (done) setAgent('')
  }
  return (
    <details class="card above" open={!!issued}>
      <summary>{t.new}</summary>
      {issued && (
        <Note tone="good">
          <p>{t.once(issued.agent)}</p>
          <Copy command={issued.secret} />
          {issued.narrowed && <p>{t.narrowed}</p>}
          <p>
            <Button onClick={() => setIssued(undefined)}>{t.kept}</Button>
          </p>
        </Note>
      )}
      <form class="stack" onSubmit={(e) => void create(e)}>
        <div class="row fields">
          <Field label={t.agent} required value={agent} onInput={(e) => setAgent(e.currentTarget.value)} />
          <Field label={t.namespaces} hint={t.namespacesHint} required value={namespaces} onInput={(e) => setNamespaces(e.currentTarget.value)} />
          <Field label={t.families} hint={t.familiesHint} value={families} onInput={(e) => setFamilies(e.currentTarget.value)} />
          <Field label={t.ends} hint={t.endsHint} value={expires} onInput={(e) => setExpires(e.currentTarget.value)} />
        </div>
        <fieldset>
          <legend>{t.may}</legend>
          {offered.map((r) => (
            <label key={r}>
              <input type="checkbox" checked={rights.includes(r)} onChange={(e) => setRights(e.currentTarget.checked ? [...rights, r] : rights.filter((x) => x !== r))} /> {t.rights[r]}
            </label>
          ))}
        </fieldset>
        <Button type="submit" kind="main">
          {t.create}
        </Button>
      </form>
    </details>
  )
}

const limitNames = ['calls_per_second', 'burst', 'concurrent', 'body_bytes'] as const

function DefaultLimits({ of }: { of: Limits }) {
  const [typed, type] = useState<Partial<Record<keyof Limits, string>>>({})
  const save = async (e: Event) => {
    e.preventDefault()
    const next = Object.fromEntries(limitNames.map((n) => [n, Number(typed[n] ?? of[n] ?? 0)]))
    if (!(await ask({ title: t.limits, will: t.limitsWill(limitsOf(next)), go: t.save }))) return
    if (await attempt(() => act('key-limits', next), t.limitsSet)) type({})
  }
  return (
    <section class="below">
      <h2>{t.limits}</h2>
      <p class="quiet">{t.limitsLead}</p>
      <form class="row" onSubmit={(e) => void save(e)}>
        {limitNames.map((n) => (
          <Field key={n} label={t.limitNames[n]} type="number" min="0" step="any" disabled={!mayAct()} value={typed[n] ?? String(of[n] ?? 0)} onInput={(e) => type({ ...typed, [n]: e.currentTarget.value })} />
        ))}
        {mayAct() && <Button type="submit">{t.save}</Button>}
      </form>
    </section>
  )
}
