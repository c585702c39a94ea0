import { useState } from 'preact/hooks'
import { call, written } from '../../call'
import { useLoad } from '../../load'
import { ask, Button, Loaded } from '../../parts'
import { visible } from '../../parts/value'
import * as text from '../../text'
import { view } from '../../view'
import { attempt, change, store } from './acts'
import { recall, type Memory, type Place } from './memory'
import { VersionList, type History, type Version } from './versions'

const words = text.memories

/** The versions of a memory, newest first, each as what it changed. */
export function Versions({ place, now, may }: { place: Place; now: Memory | null; may: boolean }) {
  const [pages, setPages] = useState<Version[]>([])
  const read = (at: string, abort?: AbortSignal) =>
    call<History>('memory_history', { ...place, limit: 20, verbose: true, authors: true, ...(at && { as_of: at }) }, abort ? { signal: abort } : {})
  const first = useLoad((abort) => read(view.moment.value, abort), [place.namespace, place.key, view.branch.value, view.moment.value, written.value])
  const [next, setNext] = useState<{ of?: History; more?: string }>({})
  const more = next.of === first.value ? next.more : first.value?.more
  const older = () =>
    void attempt(async () => {
      const page = await read(more!)
      setPages([...(next.of === first.value ? pages : []), ...page.versions])
      setNext({ of: first.value!, ...(page.more && { more: page.more }) })
    })
  return (
    <Loaded of={first}>
      {(h) => {
        const all = next.of === h ? [...h.versions, ...pages] : h.versions
        return (
          <>
            <VersionList all={all} whole={!more} place={place} onRestore={may ? (v) => void attempt(() => restore(place, v, now)) : undefined} />
            {more && <Button onClick={older}>{words.older}</Button>}
          </>
        )
      }}
    </Loaded>
  )
}

/** Stores a version again: what is there now stays in the history. */
async function restore(place: Place, v: Version, now: Memory | null): Promise<void> {
  const was = await recall(place, `v${v.version}`)
  if (!was) return
  const will = <p>{words.restoreWill(v.version, new Date(v.timestamp).toLocaleString())}</p>
  if (!(await ask({ title: words.restoreTitle(visible(place.key)), will, go: words.restore }))) return
  if (now) await change(now, was, words.done.restored(v.version))
  else await store([was], { if_version: 0 })
}
