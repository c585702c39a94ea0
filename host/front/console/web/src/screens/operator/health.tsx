import { useState } from 'preact/hooks'
import { look } from '../../api'
import { written } from '../../call'
import { attempt } from '../../deed'
import { useLoad, useTick } from '../../load'
import { Button, Chip, Copy, Loaded, Note, Plain } from '../../parts'
import * as text from '../../text'

const t = text.operator.health

interface Finding {
  what: string
  is: 'ok' | 'note' | 'BAD'
  says: string
  command?: string
}

interface Verified {
  branches: number
  versions: number
  events: number
  findings: { what: string; do: string }[] | null
}

const order: Finding['is'][] = ['BAD', 'note', 'ok']
const tones = { ok: 'good', note: 'warn', BAD: 'bad' }

/** What the doctor found, the worst first. */
export function Health() {
  const tick = useTick(10_000)
  const findings = useLoad((abort) => look<Finding[]>('doctor', {}, abort), [tick, written.value])
  return (
    <>
      <Loaded of={findings}>
        {(list) => (
          <>
            <Note tone={list.some((f) => f.is === 'BAD') ? 'bad' : list.some((f) => f.is === 'note') ? 'warn' : 'good'}>{t.sum(list.filter((f) => f.is === 'BAD').length, list.filter((f) => f.is === 'note').length)}</Note>
            <ul class="list">
              {list
                .toSorted((a, b) => order.indexOf(a.is) - order.indexOf(b.is))
                .map((f) => (
                  <li key={f.what + f.says}>
                    <div class="row">
                      <Chip tone={tones[f.is]}>{t.is[f.is]}</Chip>
                      <strong>
                        <Plain>{f.what}</Plain>
                      </strong>
                    </div>
                    <p>
                      <Plain>{f.says}</Plain>
                    </p>
                    {f.command && <Copy command={f.command} />}
                  </li>
                ))}
            </ul>
          </>
        )}
      </Loaded>
      <Verification />
      <p class="quiet below">{t.more}</p>
      <Copy command="alcove doctor" />
    </>
  )
}

/** Compares the store, its logs and the index, when asked to: it reads everything. */
function Verification() {
  const [busy, setBusy] = useState(false)
  const [report, setReport] = useState<Verified>()
  const verify = async () => {
    setBusy(true)
    await attempt(async () => setReport(await look<Verified>('verify')))
    setBusy(false)
  }
  return (
    <section class="below">
      <h2>{t.verify}</h2>
      <p class="quiet">{t.verifyLead}</p>
      <Button disabled={busy} onClick={() => void verify()}>
        {busy ? t.verifying : t.verifyNow}
      </Button>
      {report && (
        <Note tone={report.findings?.length ? 'bad' : 'good'}>
          {t.verified(report.branches, report.versions, report.events, report.findings?.length ?? 0)}
          {report.findings?.map((f) => (
            <p key={f.what}>
              <Plain>{`${f.what}: ${f.do}`}</Plain>
            </p>
          ))}
        </Note>
      )}
    </section>
  )
}
