import { useState } from 'preact/hooks'
import { act, look } from '../../api'
import { written } from '../../call'
import { attempt, mayAct } from '../../deed'
import { amount, size } from '../../figures'
import { useLoad } from '../../load'
import { Button, Empty, Field, Loaded, Plain, Scroll, ask } from '../../parts'
import * as text from '../../text'

const t = text.operator.quotas

interface Quota {
  memories_a_day?: number
  links_a_day?: number
  bytes?: number
}

interface Use {
  namespace: string
  agent?: string
  quota: Quota
  spent: { memories: number; links: number; bytes: number }
}

/** What agents may store in a namespace, and what they stored. */
export function Quotas() {
  const uses = useLoad((abort) => look<Use[] | null>('quotas', {}, abort), [written.value])
  return (
    <>
      <p class="quiet">{t.lead}</p>
      <Loaded of={uses}>{(list) => (list?.length ? <Table of={list} /> : <Empty title={t.none} hint={t.noneHint} />)}</Loaded>
      {mayAct() && <Set />}
    </>
  )
}

function Table({ of }: { of: Use[] }) {
  const remove = async (namespace: string) => {
    if (await ask({ title: t.removeIt(namespace), will: t.removeWill(namespace), go: t.remove })) await attempt(() => act('quota-set', { namespace, quota: {} }), t.removed(namespace))
  }
  return (
    <Scroll label={text.operator.tabs.quotas}>
      <table>
        <thead>
          <tr>
            <th>{t.namespace}</th>
            <th>{t.agent}</th>
            <th class="number">{t.memories}</th>
            <th class="number">{t.links}</th>
            <th class="number">{t.bytes}</th>
            {mayAct() && <th>{t.change}</th>}
          </tr>
        </thead>
        <tbody>
          {of.map((u, i) => (
            <tr key={u.namespace + '\n' + u.agent}>
              <td>
                <Plain>{u.namespace}</Plain>
              </td>
              <td>{u.agent ? <Plain>{u.agent}</Plain> : <span class="quiet">{t.nobody}</span>}</td>
              <td class="number">{spent(amount, u.spent.memories, u.quota.memories_a_day)}</td>
              <td class="number">{spent(amount, u.spent.links, u.quota.links_a_day)}</td>
              <td class="number">{spent(size, u.spent.bytes, u.quota.bytes)}</td>
              {mayAct() && <td>{of[i - 1]?.namespace !== u.namespace && <Button onClick={() => void remove(u.namespace)}>{t.remove}</Button>}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

const spent = (show: (n: number) => string, n: number, most?: number) => (most ? text.families.of(show(n), show(most)) : show(n))

function Set() {
  const [namespace, setNamespace] = useState('')
  const [memories, setMemories] = useState('1000')
  const [links, setLinks] = useState('5000')
  const [megabytes, setMegabytes] = useState('100')
  const set = async (e: Event) => {
    e.preventDefault()
    const quota: Quota = { memories_a_day: Number(memories), links_a_day: Number(links), bytes: Math.round(Number(megabytes) * 1e6) }
    if (!(await ask({ title: t.setIt(namespace), will: t.setWill(namespace), go: t.set }))) return
    if (await attempt(() => act('quota-set', { namespace, quota }), t.done(namespace))) setNamespace('')
  }
  return (
    <section class="below">
      <h2>{t.title}</h2>
      <form class="row" onSubmit={(e) => void set(e)}>
        <Field label={t.namespace} required value={namespace} onInput={(e) => setNamespace(e.currentTarget.value)} />
        <Field label={t.memories} type="number" min="0" required value={memories} onInput={(e) => setMemories(e.currentTarget.value)} />
        <Field label={t.links} type="number" min="0" required value={links} onInput={(e) => setLinks(e.currentTarget.value)} />
        <Field label={t.megabytes} type="number" min="0" step="any" required value={megabytes} onInput={(e) => setMegabytes(e.currentTarget.value)} />
        <Button type="submit">{t.set}</Button>
      </form>
    </section>
  )
}
