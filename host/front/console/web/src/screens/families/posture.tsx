import { act, look } from '../../api'
import { written } from '../../call'
import { attempt, mayAct } from '../../deed'
import { useLoad } from '../../load'
import { Button, Chip, Copy, Loaded, Note, Plain, Scroll, ask } from '../../parts'
import { to } from '../../route'
import { begin } from '../../session'
import * as text from '../../text'
import { change } from './lock'
import type { Posture } from './wire'

const t = text.families.posture

/** How much the built-in families do by themselves. */
export function PostureTab() {
  const posture = useLoad((abort) => look<Posture>('posture', {}, abort), [written.value])
  return <Loaded of={posture}>{(p) => <Postures of={p} />}</Loaded>
}

function Postures({ of: p }: { of: Posture }) {
  const set = (posture: 'personal' | 'careful') => {
    const request = { posture, ...(posture === 'personal' && p.why_shared && { shared: true }) }
    return change({ proposal: { posture: request }, name: 'posture-set', request, danger: false, ...t.set(posture, p.why_shared ?? '') })
  }
  const lock = async () => {
    if (!(await ask({ title: t.lockIt, will: t.lockWill, go: t.lockIt, danger: true }))) return
    if (await attempt(() => act('lock'), t.locked)) await begin()
  }
  return (
    <>
      {p.why_shared && (
        <Note>
          <Plain>{t.shared(p.why_shared)}</Plain>
        </Note>
      )}
      <div class="grid">
        {(['personal', 'careful', 'locked'] as const).map((name) => (
          <section key={name} class="card">
            <div class="row">
              <h2>{t.names[name]}</h2>
              {p.posture === name && <Chip tone="good">{t.inForce}</Chip>}
            </div>
            <p>{t.means[name]}</p>
            {mayAct() && p.posture !== name && <Button onClick={() => void (name === 'locked' ? lock() : set(name))}>{name === 'locked' ? t.lockIt : t.choose(name)}</Button>}
            {p.posture === 'locked' && name === 'locked' && <Copy command="alcove unlock" />}
          </section>
        ))}
      </div>
      <h2 class="below">{t.gives}</h2>
      <p class="quiet">{t.givesLead}</p>
      <Scroll label={t.gives}>
        <table>
          <thead>
            <tr>
              <th>{t.family}</th>
              <th>{t.powers}</th>
              <th>{t.now}</th>
            </tr>
          </thead>
          <tbody>
            {p.gives.map((g) => (
              <tr key={g.family}>
                <td>
                  <a href={to(['families', g.family], { tab: 'powers' })}>
                    <Plain>{g.family}</Plain>
                  </a>
                </td>
                <td>{g.gives.map((what) => text.families.power(what)).join('; ')}</td>
                <td>{g.decided ? t.decided : !g.lacks?.length ? t.on : g.denied?.length ? t.denied : t.off}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  )
}
