import { useState } from 'preact/hooks'
import { act, look, receive } from '../../api'
import { written } from '../../call'
import { attempt, mayAct } from '../../deed'
import { amount, duration, size } from '../../figures'
import { useLoad, useTick } from '../../load'
import { ask, Button, Copy, Loaded, Moment, Plain, tell } from '../../parts'
import * as text from '../../text'

const t = text.operator.storage

interface Sizes {
  bytes: number
  parts: { name: string; bytes: number; files: number }[]
}

interface Durability {
  commits: number
  syncs: number
  failed: number
  last_commit: string
  last_sync_ns: number
  slowest_sync_ns: number
  database_bytes: number
  unused_bytes: number
  blobs: number
  last_compaction: string
  purge_unfinished: boolean
  last_backup: string
  backed_up_to: number
  not_backed_up: number
}

/** How large the memory is, and how safe. */
export function Storage() {
  return (
    <div class="grid wide">
      <Files />
      <Durable />
    </div>
  )
}

const since = (moment: string) => (moment.startsWith('0001') ? t.never : <Moment at={moment} />)

function Files() {
  const sizes = useLoad((abort) => look<Sizes>('storage', {}, abort), [written.value])
  const compact = async () => {
    if (!(await ask({ title: t.compact, will: t.compactWill, go: t.compact }))) return
    await attempt(async () => {
      const done = await act<{ before: number; after: number }>('compact')
      tell(t.compacted(size(done.before), size(done.after)))
    })
  }
  return (
    <section class="card">
      <h2>{t.files}</h2>
      <Loaded of={sizes}>
        {(s) => (
          <>
            <p>{t.total(size(s.bytes))}</p>
            <table>
              <tbody>
                {s.parts
                  .filter((p) => p.bytes > 0)
                  .map((p) => (
                    <tr key={p.name}>
                      <th>
                        <Plain>{p.name}</Plain>
                        <div class="quiet">{t.parts[p.name] ?? ''}</div>
                      </th>
                      <td class="number">{size(p.bytes)}</td>
                      <td class="number quiet">{t.count(p.files)}</td>
                    </tr>
                  ))}
              </tbody>
            </table>
          </>
        )}
      </Loaded>
      {mayAct() && (
        <p class="above">
          <Button onClick={() => void compact()}>{t.compact}</Button>
        </p>
      )}
    </section>
  )
}

function Durable() {
  const tick = useTick(2000)
  const durability = useLoad((abort) => look<Durability>('durability', {}, abort), [tick, written.value])
  return (
    <section class="card">
      <h2>{t.durable}</h2>
      <Loaded of={durability}>
        {(d) => (
          <dl class="facts">
            <dt>{t.commits}</dt>
            <dd>{t.commitsIn(amount(d.commits), amount(d.syncs))}</dd>
            <dt>{t.failed}</dt>
            <dd class={d.failed ? 'failed' : ''}>{amount(d.failed)}</dd>
            <dt>{t.lastCommit}</dt>
            <dd>{since(d.last_commit)}</dd>
            <dt>{t.sync}</dt>
            <dd>{t.syncs(duration(d.last_sync_ns / 1e6), duration(d.slowest_sync_ns / 1e6))}</dd>
            <dt>{t.database}</dt>
            <dd>{t.ofThem(size(d.database_bytes), size(d.unused_bytes))}</dd>
            <dt>{t.lastCompaction}</dt>
            <dd>{since(d.last_compaction)}</dd>
            <dt>{t.lastBackup}</dt>
            <dd>
              {since(d.last_backup)}
              {d.not_backed_up > 0 && <div class="quiet">{t.unsaved(d.not_backed_up)}</div>}
            </dd>
            {d.purge_unfinished && (
              <>
                <dt>{t.purge}</dt>
                <dd class="failed">{t.purging}</dd>
              </>
            )}
          </dl>
        )}
      </Loaded>
      <Backup />
    </section>
  )
}

function Backup() {
  const [busy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    await attempt(async () => save(await receive('backup', { since: {} }), `alcove-${new Date().toISOString().slice(0, 10)}.alcove`), t.downloaded)
    setBusy(false)
  }
  return (
    <>
      <h3 class="below">{t.backup}</h3>
      <p class="quiet">{t.backupLead}</p>
      <div class="row">
        <Button kind="main" disabled={busy} onClick={() => void download()}>
          {busy ? t.downloading : t.download}
        </Button>
        <Copy command="alcove backup FOLDER --incremental" />
      </div>
    </>
  )
}

/** Gives the browser a file to keep. */
function save(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
