import { write } from '../../call'
import { failed } from '../../load'
import { ask as confirm, Plain, tell } from '../../parts'
import { visible } from '../../parts/value'
import * as text from '../../text'
import { view } from '../../view'
import { ask, idOf, proposer, root, type Branch, type Merged } from './model'

const t = text.branches

const mostNamed = 10 // keys that a question about deletion names

/** Deletes a branch once it was said what would be lost, and the person agreed. */
export async function remove(branch: Pick<Branch, 'name' | 'parent'>, onRemoved: () => void): Promise<void> {
  const { name } = branch
  try {
    const lost = await unmerged(name)
    // A merge that takes everything of the branch would bring what only the branch has.
    const shown = lost ? await ask<Merged>({ action: 'merge', source: name, target: branch.parent ?? root, strategy: 'source', preview: true }).catch(() => undefined) : undefined
    const final = proposer(name) !== undefined
    const yes = await confirm({
      title: t.deleteTitle(visible(name)),
      go: t.delete,
      danger: true,
      will: (
        <>
          <p>{lost ? t.deleteLoses(lost, visible(branch.parent ?? root)) : t.deleteSafe}</p>
          {shown && (
            <ul>
              {shown.differences.slice(0, mostNamed).map((d) => (
                <li key={idOf(d)}>
                  <Plain>{d.key}</Plain>
                </li>
              ))}
              {shown.applied > mostNamed && <li>{t.others(shown.applied - mostNamed)}</li>}
            </ul>
          )}
          <p>{final ? t.deleteFinal : t.deleteRestorable}</p>
        </>
      ),
    })
    if (!yes) return
    await write('memory_branch', { action: 'delete', name, force: lost > 0 }, { branch: '' })
    if (view.branch.value === name) view.branch.value = ''
    onRemoved()
    tell(t.deletedNow(visible(name)), final ? {} : { undo: { name: t.restore, do: () => void restore(name) } })
  } catch (e) {
    tell(failed(e).message, { bad: true })
  }
}

async function restore(name: string): Promise<void> {
  try {
    await write('memory_branch', { action: 'restore', name }, { branch: '' })
    tell(t.restored(visible(name)))
  } catch (e) {
    tell(failed(e).message, { bad: true })
  }
}

/** How many changes deleting a branch would lose; 0: it can be deleted without force. */
async function unmerged(name: string): Promise<number> {
  try {
    await write('memory_branch', { action: 'delete', name }, { branch: '', dryRun: true })
    return 0
  } catch (e) {
    const why = failed(e)
    const lost = (why.details as { unmerged?: number } | undefined)?.unmerged
    if (why.code !== 'E_CONFLICT' || lost === undefined) throw why
    return lost
  }
}
