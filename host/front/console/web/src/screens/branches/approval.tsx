import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { call, write, written } from '../../call'
import { failed, useLoad } from '../../load'
import { ask as confirm, Button, Field, Note, tell } from '../../parts'
import { visible } from '../../parts/value'
import * as text from '../../text'

const t = text.branches

interface Pending {
  id: string
  by: string
  at: string
  branch: string
  reason?: string
  votes?: string[] | number
  approver?: string
}

interface Props {
  branch: string
  namespaces: string[]
  mayDecide: boolean
  /** Is called once the proposal is gone. */
  onDecided: () => void
  children: ComponentChildren
}

/** What a proposal waits for, if the family of approvals has it; otherwise the children, by which it is merged. */
export function Approval({ branch, namespaces, mayDecide, onDecided, children }: Props) {
  const [reason, setReason] = useState('')
  const found = useLoad((abort) => pending(branch, namespaces, abort), [branch, namespaces.join('\n'), written.value])
  const waiting = found.value
  if (found.busy && !waiting) return <p class="quiet busy">{text.busy}</p>
  if (!waiting)
    return (
      <>
        <Note tone="warn">{t.proposal}</Note>
        {children}
      </>
    )
  const { id, namespace } = waiting
  const votes = Array.isArray(waiting.votes) ? waiting.votes.length : (waiting.votes ?? 0)
  const decide = async (how: 'approve' | 'reject') => {
    const yes = await confirm({ title: t[how], will: <p>{how === 'approve' ? t.approveWill(visible(branch)) : t.rejectWill(visible(branch))}</p>, go: t[how], danger: how === 'reject' })
    if (!yes) return
    try {
      const done = await write<{ merged?: boolean; votes?: number; needed?: number }>(`memory_pending_${how}`, { id, ...(how === 'reject' && reason && { reason }) }, { namespace, branch: '' })
      tell(how === 'reject' ? t.rejected : done.merged ? t.approved : t.voted(done.votes ?? 0, done.needed ?? 0))
      if (how === 'reject' || done.merged) onDecided()
    } catch (e) {
      tell(failed(e).message, { bad: true })
    }
  }
  return (
    <Note tone="warn">
      <p>{t.waits(visible(waiting.approver ?? ''), visible(waiting.by), votes)}</p>
      {waiting.reason && <p>{visible(waiting.reason)}</p>}
      {mayDecide && (
        <div class="row">
          <Button kind="main" onClick={() => void decide('approve')}>
            {t.approve}
          </Button>
          <Field label={t.reason} value={reason} onInput={(e) => setReason(e.currentTarget.value)} />
          <Button onClick={() => void decide('reject')}>{t.reject}</Button>
        </div>
      )}
    </Note>
  )
}

async function pending(branch: string, namespaces: string[], abort: AbortSignal): Promise<(Pending & { namespace: string }) | undefined> {
  for (const namespace of namespaces) {
    const list = await call<{ pending: Pending[] }>('memory_pending_list', { limit: 1000 }, { namespace, branch: '', signal: abort }).catch(() => ({ pending: [] }))
    const mine = list.pending.find((p) => p.branch === branch)
    if (mine) return { ...mine, namespace }
  }
  return undefined
}
