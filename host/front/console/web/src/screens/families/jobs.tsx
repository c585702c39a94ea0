import { act, look } from '../../api'
import { written } from '../../call'
import { attempt, mayAct } from '../../deed'
import { useLoad, useTick } from '../../load'
import { ask, Button, Chip, Empty, Loaded, Moment, Plain } from '../../parts'
import { to } from '../../route'
import * as text from '../../text'
import type { Info, Job } from './wire'

const t = text.families.jobs
const tones: Partial<Record<Job['state'], string>> = { done: 'good', failed: 'bad', running: 'warn' }

/** The jobs of a family: those that its manifest has, with their next run, and those that wait, run or have ended. */
export function Jobs({ family: f }: { family: Info }) {
  const name = f.manifest.name
  const tick = useTick(3000)
  const jobs = useLoad((abort) => look<Job[] | null>('family-jobs', {}, abort), [tick, written.value])
  const declared = f.manifest.hooks?.jobs ?? []
  return (
    <Loaded of={jobs}>
      {(list) => {
        const mine = (list ?? []).filter((j) => j.family === name)
        const queued = mine.filter((j) => j.state !== 'scheduled')
        if (declared.length + queued.length === 0) return <Empty title={t.none} hint={t.noneHint} />
        return (
          <>
            <ul class="list">
              {declared.map((d) => {
                const next = mine.find((j) => j.state === 'scheduled' && j.job === d.name)
                return (
                  <li key={d.name}>
                    <div class="row">
                      <strong>
                        <Plain>{d.name}</Plain>
                      </strong>
                      {d.every && <Chip>{t.every(d.every)}</Chip>}
                      {next ? (
                        <span>
                          {t.next} <Moment at={next.due} />
                        </span>
                      ) : (
                        d.every && <span class="quiet">{t.off}</span>
                      )}
                      {mayAct() && d.every && next && <Button onClick={() => void run(name, d.name)}>{t.run}</Button>}
                    </div>
                    {d.description && <Plain>{d.description}</Plain>}
                  </li>
                )
              })}
            </ul>
            <h2 class="below">{t.queue}</h2>
            {queued.length === 0 && <p class="quiet">{t.noQueue}</p>}
            <ul class="list">
              {queued.map((j) => (
                <Queued key={j.id} job={j} />
              ))}
            </ul>
          </>
        )
      }}
    </Loaded>
  )
}

async function run(family: string, job: string) {
  if (await ask({ title: t.runNow(job), will: t.runWill(family, job), go: t.run })) await attempt(() => act('family-job-run', { family, job }), t.started(job))
}

async function cancel(j: Job) {
  if (await ask({ title: t.cancelIt(j.job), will: t.cancelWill, go: t.cancel, danger: true })) await attempt(() => act('family-job-cancel', { id: j.id }), t.cancelled(j.job))
}

function Queued({ job: j }: { job: Job }) {
  return (
    <li>
      <div class="row">
        <strong>
          <Plain>{j.job}</Plain>
        </strong>
        <Chip tone={tones[j.state] ?? ''}>{t.states[j.state]}</Chip>
        <span class="quiet">
          <Plain>{t.where(j.namespace, j.branch)}</Plain>
        </span>
        <span>
          {j.state === 'queued' ? t.due : t.since} <Moment at={j.ended ?? (j.state === 'queued' ? j.due : j.created)} />
        </span>
        {mayAct() && (j.state === 'queued' || j.state === 'running') && <Button onClick={() => void cancel(j)}>{t.cancel}</Button>}
      </div>
      {j.progress && (
        <p>
          <progress max={j.progress.total || 1} value={j.progress.total ? j.progress.done : undefined} aria-label={t.progress} /> <Plain>{j.progress.message ?? ''}</Plain>
        </p>
      )}
      {j.error && (
        <p class="failed">
          <Plain>{j.error}</Plain>
        </p>
      )}
      {j.proposal && (
        <p>
          {t.proposal}{' '}
          <a href={to(['branches', j.proposal])}>
            <Plain>{j.proposal}</Plain>
          </a>
        </p>
      )}
    </li>
  )
}
