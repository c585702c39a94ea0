import { useState } from 'preact/hooks'
import { write, written } from '../../call'
import { failed, useLoad } from '../../load'
import { Button, Chip, Empty, Loaded, Moment, Note, Plain, tell } from '../../parts'
import { visible } from '../../parts/value'
import { route, to } from '../../route'
import { current } from '../../session'
import * as text from '../../text'
import { past, view } from '../../view'
import { Fork } from './fork'
import { Graph } from './graph'
import { ask, lookAt, proposer, root, type Branch, type Compared, type Listed } from './model'
import { BranchPage } from './page'
import './style.css'

const t = text.branches
const mostCompared = 20 // branches of the table that are compared with their parents

interface All {
  live: Listed
  deleted: Branch[]
}

export function Screen() {
  const name = route.value.rest[0]
  const all = useLoad<All>(
    async (abort) => {
      const [live, gone] = await Promise.all([ask<Listed>({ action: 'list', merges: true }, abort), ask<Listed>({ action: 'list', deleted: true }, abort)])
      return { live, deleted: gone.branches }
    },
    [written.value],
  )
  return (
    <div class="branches">
      <Loaded of={all}>
        {({ live, deleted }) => {
          if (name === undefined) return <Overview live={live} deleted={deleted} />
          const branch = live.branches.find((b) => b.name === name)
          return branch ? <BranchPage key={name} branch={branch} branches={live.branches} merges={live.merges ?? []} /> : <Missing name={name} deleted={deleted.some((b) => b.name === name)} />
        }}
      </Loaded>
    </div>
  )
}

function Missing({ name, deleted }: { name: string; deleted: boolean }) {
  return (
    <div class="empty">
      <h1>{deleted ? t.wasDeleted(visible(name)) : t.missing(visible(name))}</h1>
      <p>
        <a href={to(['branches'])}>{t.all}</a>
      </p>
    </div>
  )
}

function Overview({ live, deleted }: { live: Listed; deleted: Branch[] }) {
  const [gone, showGone] = useState(false)
  const mayWrite = !current()?.read_only
  const here = view.branch.value || root
  const waiting = live.branches.filter((b) => proposer(b.name))
  const shown = gone ? [...live.branches, ...deleted] : live.branches
  return (
    <>
      <h1>{text.nav.branches}</h1>
      {live.note && <Note>{live.note}</Note>}
      <div class="row">
        {deleted.length > 0 && (
          <label class="row">
            <input type="checkbox" checked={gone} onChange={(e) => showGone(e.currentTarget.checked)} />
            {t.showDeleted(deleted.length)}
          </label>
        )}
      </div>
      <Graph branches={shown} merges={live.merges ?? []} here={here} />
      {mayWrite && <Fork from={here} />}
      {live.branches.length === 1 && !gone && <Empty title={t.emptyTitle} hint={t.emptyHint} command="alcove branch fork try" />}
      {waiting.length > 0 && (
        <section>
          <h2>{t.waiting}</h2>
          <p class="quiet">{t.waitingHint}</p>
          <ul class="list">
            {waiting.map((b) => (
              <li key={b.name} class="row">
                <a href={to(['branches', b.name])}>
                  <Plain>{b.name}</Plain>
                </a>
                <Chip tone="warn">{t.proposedBy(visible(proposer(b.name) ?? ''))}</Chip>
                <Moment at={b.created} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h2>{t.table}</h2>
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>{t.name}</th>
                <th>{t.from}</th>
                <th>{t.created}</th>
                <th>{t.ahead}</th>
                <th>
                  <span class="unseen">{t.acts}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {live.branches.map((b, i) => (
                <tr key={b.name}>
                  <td>
                    <a href={to(['branches', b.name])}>
                      <Plain>{b.name}</Plain>
                    </a>{' '}
                    {b.name === here && <Chip tone="good">{t.looked}</Chip>}
                  </td>
                  <td>{b.parent ? <Plain>{b.parent}</Plain> : t.own}</td>
                  <td>
                    <Moment at={b.created} />
                  </td>
                  <td>{b.parent && live.branches.some((p) => p.name === b.parent) ? i <= mostCompared ? <Ahead branch={b.name} parent={b.parent} /> : '–' : ''}</td>
                  <td>{b.name !== here && <Button onClick={() => lookAt(b.name)}>{t.look}</Button>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      {deleted.length > 0 && <Deleted branches={deleted} mayRestore={mayWrite && !past.value} />}
    </>
  )
}

function Ahead({ branch, parent }: { branch: string; parent: string }) {
  const d = useLoad((abort) => ask<Compared>({ action: 'diff', compare: branch, target: parent }, abort), [branch, parent, written.value])
  if (d.failure) return <span title={d.failure.message}>?</span>
  if (!d.value) return <span class="quiet">…</span>
  const { added, changed, removed, clashing } = d.value
  if (added + changed + removed === 0) return <span class="quiet">{t.same}</span>
  return (
    <span class="row">
      {added > 0 && <Chip tone="good">{t.added(added)}</Chip>}
      {changed > 0 && <Chip>{t.changed(changed)}</Chip>}
      {removed > 0 && <Chip>{t.lacks(removed)}</Chip>}
      {(clashing ?? 0) > 0 && <Chip tone="bad">{t.clashes(clashing ?? 0)}</Chip>}
    </span>
  )
}

function Deleted({ branches, mayRestore }: { branches: Branch[]; mayRestore: boolean }) {
  return (
    <section>
      <h2>{t.deleted}</h2>
      <p class="quiet">{t.deletedHint}</p>
      <ul class="list">
        {[...branches].reverse().map((b) => (
          <li key={b.name + b.deleted}>
            <div class="row">
              <b>
                <Plain>{b.name}</Plain>
              </b>
              {b.parent && <span class="quiet">{t.forkOf(visible(b.parent))}</span>}
              <span>
                {t.deletedAt} <Moment at={b.deleted ?? ''} />
              </span>
              {mayRestore && <Restore name={b.name} />}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Restores the branch that was deleted last of those with the name, under another if that is taken. */
function Restore({ name }: { name: string }) {
  const [as, setAs] = useState<string | null>(null)
  const restore = async () => {
    try {
      await write('memory_branch', { action: 'restore', name, ...(as && as !== name && { as }) }, { branch: '' })
      tell(t.restored(visible(as || name)))
    } catch (e) {
      const why = failed(e)
      tell(why.message, { bad: true })
      if (why.code === 'E_CONFLICT') setAs(as ?? name + '-restored')
    }
  }
  return (
    <form class="row" onSubmit={(e) => (e.preventDefault(), void restore())}>
      {as !== null && <input aria-label={t.restoreAs} value={as} onInput={(e) => setAs(e.currentTarget.value)} />}
      <Button type="submit">{t.restore}</Button>
    </form>
  )
}
