import { useState } from 'preact/hooks'
import { act } from '../../api'
import { call, write, written } from '../../call'
import { attempt, mayAct } from '../../deed'
import { useLoad } from '../../load'
import { ask, Button, Chip, Empty, Field, Loaded, Moment, Plain, Select, tell, Value } from '../../parts'
import { to } from '../../route'
import { current } from '../../session'
import * as text from '../../text'
import { past, view } from '../../view'

const t = text.families.waiting
const command = `alcove call memory_namespace_set_standard '{"namespace":"team","id":"rules","governance":{"write":"approve"}}'`
type Status = 'pending' | 'approved' | 'rejected'
type Remember = 'once' | 'session' | 'forever'

interface Pending {
  id: string
  op: string
  keys: string[] | null
  changes?: { key: string; change: string; before?: unknown; after?: unknown; also?: string[]; clash?: string }[]
  more?: number
  by: string
  branch: string
  at: string
  reason?: string
  votes?: string[]
  approver?: string
}

interface List {
  pending: (Pending & { namespace: string })[]
  more: boolean
}

const mostNamespaces = 100 // that are asked, one after the other

/** What waits in a namespace, or in all. */
async function waiting(status: Status, abort: AbortSignal): Promise<List> {
  const chosen = view.namespace.value
  const names = chosen && chosen !== '*' ? [chosen] : await namespaces(abort)
  const list: List = { pending: [], more: names.length > mostNamespaces }
  for (const namespace of names.slice(0, mostNamespaces)) {
    const a = await call<{ pending: Pending[] | null; next_cursor?: string }>('memory_pending_list', { status, limit: 200 }, { namespace, signal: abort })
    list.pending.push(...(a.pending ?? []).map((p) => ({ ...p, namespace })))
    list.more ||= !!a.next_cursor
  }
  return list
}

async function namespaces(abort: AbortSignal): Promise<string[]> {
  const status = await call<{ namespaces?: { name: string }[] }>('memory_status', { namespaces: true }, { signal: abort })
  return (status.namespaces ?? []).map((n) => n.name)
}

/** Decides about a change: as the operator, whom no agent can claim to be, or as the agent of the key. */
async function decide<T>(what: 'approve' | 'reject', namespace: string, params: object): Promise<T> {
  const tool = 'memory_pending_' + what
  if (!current()?.operator) return write<T>(tool, params, { namespace })
  return (await act<{ result: T }>('call-tool', { tool, arguments: params, namespace })).result
}

/** Changes that wait for an approval or for votes. */
export function Waiting() {
  const [status, setStatus] = useState<Status>('pending')
  const list = useLoad((abort) => waiting(status, abort), [status, view.namespace.value, written.value])
  return (
    <>
      <div class="row above">
        <Select label={t.status} value={status} onChoose={(v) => setStatus(v as Status)} choices={(['pending', 'approved', 'rejected'] as const).map((s) => [s, t.states[s]])} />
      </div>
      <Loaded of={list}>
        {({ pending, more }) =>
          pending.length === 0 ? (
            <Empty title={t.none[status]} hint={t.noneHint} command={command} />
          ) : (
            <ul class="list">
              {pending.map((p) => (
                <Change key={p.id} of={p} open={status === 'pending'} />
              ))}
              {more && <li class="quiet">{t.more}</li>}
            </ul>
          )
        }
      </Loaded>
    </>
  )
}

function Change({ of: p, open }: { of: List['pending'][number]; open: boolean }) {
  const [reason, setReason] = useState('')
  const [remember, setRemember] = useState<Remember>('once')
  const may = open && (current()?.operator ? mayAct() : !past.value && !current()?.read_only)
  const keys = p.keys ?? []
  const approve = async () => {
    if (!(await ask({ title: t.approve, will: t.approveWill(keys.length, p.by || t.somebody) + ' ' + t.remembers[remember], go: t.approve }))) return
    await attempt(async () => {
      const a = await decide<{ merged: boolean; votes?: number; needed?: number }>('approve', p.namespace, { id: p.id, remember })
      tell(a.merged ? t.merged : t.voted(a.votes ?? 0, a.needed ?? 0))
    })
  }
  const reject = async () => {
    if (!(await ask({ title: t.reject, will: t.rejectWill(keys.length, p.by || t.somebody) + ' ' + t.remembers[remember], go: t.reject, danger: true }))) return
    await attempt(() => decide('reject', p.namespace, { id: p.id, remember, ...(reason && { reason }) }), t.rejected)
  }
  return (
    <li>
      <div class="row">
        <Chip>
          <Plain>{p.op}</Plain>
        </Chip>
        <strong>
          <Plain>{keys.slice(0, 3).join(', ')}</Plain>
        </strong>
        {keys.length > 3 && <span class="quiet">{t.moreKeys(keys.length - 3)}</span>}
        <span class="quiet">
          <Plain>{p.namespace}</Plain>
        </span>
        <span>
          {t.by} <Plain>{p.by || t.somebody}</Plain>, <Moment at={p.at} />
        </span>
        <a href={to(['branches', p.branch])}>
          <Plain>{p.branch}</Plain>
        </a>
        {!!p.votes?.length && <Chip>
            <Plain>{t.votes(p.votes.join(', '))}</Plain>
          </Chip>}
        {p.approver && <Chip>
            <Plain>{t.approver(p.approver)}</Plain>
          </Chip>}
      </div>
      {p.reason && (
        <p>
          <Plain>{p.reason}</Plain>
        </p>
      )}
      {(p.changes ?? []).map((c) => (
        <div key={c.key} class="waits">
          <strong>
            <Plain>{c.key}</Plain>
          </strong>{' '}
          <span class="quiet">{c.change}</span>
          {c.clash && (
            <span class="failed">
              {' '}
              <Plain>{c.clash}</Plain>
            </span>
          )}
          <div class="sides">
            {c.before !== undefined && (
              <div class="side-before">
                <span class="quiet">{t.before}</span>
                <Value of={c.before} />
              </div>
            )}
            {c.after !== undefined && (
              <div class="side-after">
                <span class="quiet">{t.after}</span>
                <Value of={c.after} />
              </div>
            )}
          </div>
          {c.also && <p class="quiet"><Plain>{t.also(c.also.join(', '))}</Plain></p>}
        </div>
      ))}
      {!!p.more && <p class="quiet">{t.moreKeys(p.more)}</p>}
      {may && (
        <div class="row">
          <Select label={t.remember} value={remember} onChoose={(v) => setRemember(v as Remember)} choices={(['once', 'session', 'forever'] as const).map((r) => [r, t.rememberFor[r]])} />
          <Field label={t.reason} value={reason} onInput={(e) => setReason(e.currentTarget.value)} />
          <Button kind="main" onClick={() => void approve()}>
            {t.approve}
          </Button>
          <Button onClick={() => void reject()}>{t.reject}</Button>
        </div>
      )}
    </li>
  )
}
