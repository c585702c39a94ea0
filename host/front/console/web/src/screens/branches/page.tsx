import { written } from '../../call'
import { useLoad } from '../../load'
import { usePages } from '../../pages'
import { Button, Chip, Loaded, Moment, Note, Plain, Select, Tabs } from '../../parts'
import { visible } from '../../parts/value'
import { go, keep, route, to } from '../../route'
import { current } from '../../session'
import * as text from '../../text'
import { past, view } from '../../view'
import { Differences } from './difference'
import { Fork } from './fork'
import { MergePage } from './merge'
import { ask, lookAt, proposer, root, type Branch, type Compared, type Merge } from './model'
import { remove } from './remove'

const t = text.branches

export function BranchPage({ branch, branches, merges }: { branch: Branch; branches: Branch[]; merges: Merge[] }) {
  const name = branch.name
  const others = branches.map((b) => b.name).filter((n) => n !== name)
  const preferred = branch.parent && others.includes(branch.parent) ? branch.parent : others.includes(root) ? root : others[0]
  const asked = route.value.query.get('with')
  const other = asked && others.includes(asked) ? asked : preferred
  const family = proposer(name)
  const tab = route.value.rest[1] ?? (family ? 'merge' : 'differences') // of a proposal, what it would change is asked first
  const mayWrite = !current()?.read_only && !past.value
  const away = () => go(to(['branches']))
  const choice = <Select label={tab === 'merge' ? t.into : t.compareWith} value={other ?? ''} choices={others.map((n) => [n, visible(n)])} onChoose={(v) => keep({ with: v === preferred ? '' : v })} />
  return (
    <>
      <p>
        <a href={to(['branches'])}>{t.all}</a>
      </p>
      <h1>
        <Plain>{name}</Plain>
      </h1>
      <Facts branch={branch} merges={merges} />
      <div class="row">
        {(view.branch.value || root) !== name && <Button onClick={() => lookAt(name)}>{t.look}</Button>}
        {mayWrite && name !== root && <Button onClick={() => void remove(branch, away)}>{t.delete}</Button>}
      </div>
      {!current()?.read_only && !family && <Fork from={name} />}
      {other === undefined ? (
        <Note>{t.alone}</Note>
      ) : (
        <>
          <Tabs
            label={t.tabs}
            here={tab}
            tabs={[
              { id: 'differences', name: t.differences, href: to(['branches', name, 'differences'], { with: asked ?? '' }) },
              { id: 'merge', name: family ? t.proposes : t.merge, href: to(['branches', name, 'merge'], { with: asked ?? '' }) },
            ]}
          />
          {tab === 'merge' ? (
            <MergePage key={other} source={name} target={other} mayWrite={mayWrite} choice={choice} onDecided={away} />
          ) : (
            <>
              <div class="row">{choice}</div>
              <Comparison name={name} other={other} />
            </>
          )}
        </>
      )}
    </>
  )
}

function Facts({ branch, merges }: { branch: Branch; merges: Merge[] }) {
  const out = merges.filter((m) => m.source === branch.name)
  const into = merges.filter((m) => m.target === branch.name)
  const family = proposer(branch.name)
  return (
    <p class="row">
      {family && <Chip tone="warn">{t.proposedBy(visible(family))}</Chip>}
      {branch.name === (view.branch.value || root) && <Chip tone="good">{t.looked}</Chip>}
      <span>
        {branch.parent ? t.forkOfAt(visible(branch.parent), branch.forked_at ?? 0) : t.own} · <Moment at={branch.created} />
      </span>
      {out[0] && <Chip>{t.lastMerged(visible(out[0].target), new Date(out[0].timestamp).toLocaleString())}</Chip>}
      {into.length > 0 && <Chip>{t.mergesHere(into.length)}</Chip>}
    </p>
  )
}

function Comparison({ name, other }: { name: string; other: string }) {
  const within = view.namespace.value
  const request = { action: 'diff', compare: name, target: other, ...(within && { namespace: within }) }
  const compared = useLoad((abort) => ask<Compared>(request, abort), [name, other, within, written.value])
  return <Loaded of={compared}>{(d) => <Compare first={d} request={request} source={name} target={other} />}</Loaded>
}

function Compare({ first, request, source, target }: { first: Compared; request: object; source: string; target: string }) {
  const { pages, more } = usePages(first, (after) => ask<Compared>({ ...request, after }))
  return (
    <>
      <h2>{t.differences}</h2>
      <p>{first.summary}</p>
      {first.note && !first.next && <Note>{first.note}</Note>}
      <Differences list={pages.flatMap((p) => p.differences)} source={source} target={target} />
      {more && <Button onClick={() => void more()}>{t.moreDifferences}</Button>}
    </>
  )
}
