import { look } from '../../api'
import { written } from '../../call'
import { mayAct } from '../../deed'
import { useLoad } from '../../load'
import { Button, Copy, Loaded, Moment, Note, Plain, Tabs } from '../../parts'
import { go, route, to } from '../../route'
import * as text from '../../text'
import { amount, size } from '../../figures'
import { Replace } from './install'
import { Jobs } from './jobs'
import { States } from './list'
import { change } from './lock'
import { Log } from './log'
import { Powers } from './powers'
import { Settings } from './settings'
import { Tools } from './tools'
import { Undo } from './undo'
import type { Info, Use } from './wire'

const t = text.families
const tabs = ['about', 'powers', 'settings', 'tools', 'jobs', 'log', 'undo'] as const

/** The page of a family, for the operator. */
export function Page({ name }: { name: string }) {
  const info = useLoad((abort) => look<Info>('family-info', { family: name }, abort), [name, written.value])
  const here = tabs.find((id) => id === route.value.query.get('tab')) ?? 'about'
  return (
    <>
      <p>
        <a href={to(['families'])}>← {text.nav.families}</a>
      </p>
      <h1>
        <Plain>{name}</Plain>
      </h1>
      <Loaded of={info}>
        {(f) => (
          <>
            <Head family={f} />
            <Tabs label={t.parts} here={here} tabs={tabs.map((id) => ({ id, name: t.tab[id], href: to(['families', name], id === 'about' ? {} : { tab: id }) }))} />
            {here === 'about' && <About family={f} />}
            {here === 'powers' && <Powers family={f} />}
            {here === 'settings' && <Settings family={f} />}
            {here === 'tools' && <Tools family={f} />}
            {here === 'jobs' && <Jobs family={f} />}
            {here === 'log' && <Log name={name} />}
            {here === 'undo' && <Undo name={name} />}
          </>
        )}
      </Loaded>
    </>
  )
}

function Head({ family: f }: { family: Info }) {
  const name = f.manifest.name
  const disable = (disable: boolean) => {
    const request = { family: name, digest: f.digest, disable }
    return change({ proposal: { grant: request }, name: 'family-grant', request, danger: disable, ...t.disable(name, disable) })
  }
  return (
    <>
      <p>
        <Plain>{f.manifest.description}</Plain>
      </p>
      <div class="row above">
        <span class="quiet">
          <Plain>{t.version(f.manifest.version, f.source)}</Plain>
        </span>
        <States of={f} use={f.use} />
        {mayAct() && f.digest && !f.hidden && (
          <span class="row apart">
            <Button onClick={() => void disable(!f.grant.disabled)}>{f.grant.disabled ? t.enable : t.disableIt}</Button>
            {f.source === 'installed' && <Installed name={name} />}
          </span>
        )}
      </div>
      <Worries family={f} />
    </>
  )
}

function Installed({ name }: { name: string }) {
  const back = () => change({ proposal: { rollback: name }, name: 'family-rollback', request: { family: name }, ...t.rollBack(name) })
  const remove = async () => {
    if (await change({ proposal: { remove: name }, name: 'family-remove', request: { family: name }, danger: true, ...t.remove(name) })) go(to(['families']))
  }
  return (
    <>
      <Button onClick={() => void back()}>{t.rollBack(name).go}</Button>
      <Button onClick={() => void remove()}>{t.remove(name).go}</Button>
    </>
  )
}

/** What is wrong with a family, or waits for a decision. */
function Worries({ family: f }: { family: Info }) {
  return (
    <>
      {f.fault && (
        <Note tone="bad">
          <Plain>{f.fault}</Plain>
        </Note>
      )}
      {f.guard && <Note tone={f.guard.missing ? 'bad' : ''}><Plain>{t.guard(f.guard.version ?? '', f.guard.missing ?? '')}</Plain></Note>}
      {!!f.lacking?.length && <Note tone="warn"><Plain>{t.lackingFor(f.lacking.map((p) => t.power(p)))}</Plain></Note>}
      {!!f.newly_asked?.length && <Note tone="warn"><Plain>{t.newlyAsked(f.newly_asked.map((p) => t.power(p)))}</Plain></Note>}
      {f.update && <Note tone="warn"><Plain>{t.lostBy(f.update.version ?? '', (f.update.dropped ?? []).join(', '))}</Plain></Note>}
      {f.grant_command && (
        <p>
          <Copy command={f.grant_command} />
        </p>
      )}
    </>
  )
}

function About({ family: f }: { family: Info }) {
  const m = f.manifest
  return (
    <div class="grid">
      <section class="card">
        <h2>{t.about.does}</h2>
        {m.docs && (
          <p>
            <Plain>{m.docs}</Plain>
          </p>
        )}
        <dl class="facts">
          <dt>{t.about.license}</dt>
          <dd>
            <Plain>{m.license ?? t.about.none}</Plain>
          </dd>
          <dt>{t.about.signers}</dt>
          <dd>
            <Plain>{f.grant.signers?.join(', ') ?? t.about.none}</Plain>
          </dd>
          {f.digest && (
            <>
              <dt>{t.about.digest}</dt>
              <dd class="mono">
                <Plain>{f.digest}</Plain>
              </dd>
            </>
          )}
          {m.homepage && (
            <>
              <dt>{t.about.homepage}</dt>
              <dd>
                <Plain>{m.homepage}</Plain>
              </dd>
            </>
          )}
        </dl>
      </section>
      <Keeps family={f} />
      <Trouble use={f.use} />
      {f.source === 'installed' && mayAct() && (
        <section class="card">
          <h2>{t.install.update}</h2>
          <Replace name={m.name} />
        </section>
      )}
    </div>
  )
}

function Keeps({ family: f }: { family: Info }) {
  const collections = f.manifest.collections ?? []
  return (
    <section class="card">
      <h2>{t.about.keeps}</h2>
      <dl class="facts">
        <dt>{t.about.records}</dt>
        <dd>{t.of(amount(f.use.records), amount(f.use.quotas['records'] ?? 0))}</dd>
        <dt>{t.about.bytes}</dt>
        <dd>{t.of(size(f.use.record_bytes), size(f.use.quotas['record_bytes'] ?? 0))}</dd>
        <dt>{t.about.jobs}</dt>
        <dd>{t.of(amount(f.use.jobs), amount(f.use.quotas['jobs'] ?? 0))}</dd>
        {collections.length > 0 && (
          <>
            <dt>{t.about.collections}</dt>
            <dd>
              <Plain>{collections.map((c) => c.name).join(', ')}</Plain>
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}

function Trouble({ use }: { use: Use }) {
  const list = use.troubles ?? []
  return (
    <section class="card">
      <h2>{t.about.troubles}</h2>
      {use.cut && <p>{t.about.cut(use.cut.count)}</p>}
      {list.length === 0 && <p class="quiet">{t.about.noTroubles}</p>}
      <p>
        <a href={to(['operator', 'audit'], { family: use.family })}>{t.about.audit}</a>
      </p>
      <ul class="bare">
        {list.map((x) => (
          <li key={x.kind}>
            <strong>
              <Plain>{x.kind}</Plain>
            </strong>{' '}
            ×{amount(x.count)}, <Moment at={x.last} />
            <br />
            <Plain>{x.says}</Plain>
          </li>
        ))}
      </ul>
    </section>
  )
}
