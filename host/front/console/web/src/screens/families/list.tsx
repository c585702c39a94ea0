import { look } from '../../api'
import { written } from '../../call'
import { useLoad } from '../../load'
import { Chip, Empty, Loaded, Note, Plain } from '../../parts'
import { keep, route, to } from '../../route'
import * as text from '../../text'
import { failures, type Family, type Posture, type Stats, type Use } from './wire'

const t = text.families

interface All {
  families: Family[]
  uses: Use[]
  stats: Stats[]
  posture: Posture
}

async function all(abort: AbortSignal): Promise<All> {
  const [families, uses, stats, posture] = await Promise.all([
    look<Family[]>('family-states', {}, abort),
    look<Use[]>('family-uses', {}, abort),
    look<Stats[] | null>('family-stats', {}, abort),
    look<Posture>('posture', {}, abort),
  ])
  return { families, uses, stats: stats ?? [], posture }
}

/** All families, with the state of each. */
export function Families() {
  const query = route.value.query.get('q') ?? ''
  const loaded = useLoad(all, [written.value])
  return (
    <Loaded of={loaded}>
      {({ families, uses, stats, posture }) => {
        const word = query.trim().toLowerCase()
        const shown = families.filter((f) => `${f.manifest.name} ${f.manifest.description}`.toLowerCase().includes(word))
        return (
          <>
            <Note>
              {t.posture.is(posture.posture)} <a href={to(['families'], { show: 'posture' })}>{t.posture.more}</a>
            </Note>
            <input type="search" aria-label={t.find} placeholder={t.find} value={query} onInput={(e) => keep({ q: e.currentTarget.value })} />
            {shown.length === 0 && <Empty title={t.none} hint={word ? t.noneFound : t.noneInstalled} />}
            <ul class="list families">
              {shown.map((f) => (
                <Row key={f.manifest.name + f.digest} family={f} use={uses.find((u) => u.family === f.manifest.name)} stats={stats.find((s) => s.family === f.manifest.name)} />
              ))}
            </ul>
          </>
        )
      }}
    </Loaded>
  )
}

function Row({ family: f, use, stats }: { family: Family; use?: Use | undefined; stats?: Stats | undefined }) {
  const name = f.manifest.name
  return (
    <li>
      <div class="row">
        <a href={to(['families', name])}>
          <strong>
            <Plain>{name}</Plain>
          </strong>
        </a>
        <span class="quiet">
          <Plain>{f.manifest.version}</Plain>
        </span>
        <States of={f} use={use} />
        {stats && (
          <span class="quiet apart">
            {t.count.requests(stats.requests)}
            {failures(stats) > 0 && <span class="failed"> · {t.count.failures(failures(stats))}</span>}
          </span>
        )}
      </div>
      <p>
        <Plain>{f.manifest.description}</Plain>
      </p>
      {f.fault && (
        <p class="failed">
          <Plain>{f.fault}</Plain>
        </p>
      )}
    </li>
  )
}

/** How a family is, as chips. */
export function States({ of: f, use }: { of: Family; use?: Use | undefined }) {
  return (
    <>
      {f.fault && <Chip tone="bad">{t.state.faulty}</Chip>}
      {f.hidden && <Chip tone="bad">{t.state.hidden}</Chip>}
      {f.grant.disabled && <Chip tone="warn">{t.state.disabled}</Chip>}
      {f.loaded && <Chip tone="good">{t.state.loaded}</Chip>}
      {f.source !== 'built in' && <Chip>{f.source === 'installed' ? t.state.installed : <Plain>{f.source}</Plain>}</Chip>}
      {Object.keys(f.grant.hooks ?? {}).map((h) => (
        <Chip key={h}>{t.hook(h)}</Chip>
      ))}
      {use?.resting && <Chip tone="warn">{t.state.resting}</Chip>}
      {!!f.newly_asked?.length && <Chip tone="warn">{t.state.asksMore}</Chip>}
      {f.update && <Chip tone="warn">{t.state.lost}</Chip>}
      {!!f.lacking?.length && <Chip tone="warn">{t.state.lacking}</Chip>}
      {f.guard?.missing && <Chip tone="bad">{t.state.guardless}</Chip>}
    </>
  )
}
