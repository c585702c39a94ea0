import assert from 'node:assert/strict'
import { Host } from '../mcphost.mjs'

export default {
  async 'what a branch changes is approved, and merged'(c) {
    const h = await Host.open(c)
    const view = await h.show('memory_branch', { action: 'diff', compare: 'try/pier' })
    assert.match(await view.locator('.difference').first().innerText(), /pier[^]*stone/)
    await h.accessible('a comparison')
    assert.equal((await h.call('memory_recall', { key: 'pier' })).value, 'a pier of wood')
    await view.getByRole('button', { name: 'Merge or discard…' }).click()
    await view.getByRole('button', { name: 'Merge try/pier into default' }).click()
    const question = view.getByRole('dialog', { name: 'Merge try/pier into default?' })
    assert.match(await question.innerText(), /1 key of default will change/)
    await h.accessible('a question')
    const box = await question.boundingBox()
    const frame = await h.page.locator('iframe').boundingBox()
    assert.ok(box.y >= frame.y && box.y + box.height <= frame.y + frame.height, `the question is at ${JSON.stringify(box)} in ${JSON.stringify(frame)}`)
    await question.getByRole('button', { name: 'Cancel' }).click()
    assert.equal((await h.call('memory_recall', { key: 'pier' })).value, 'a pier of wood')
    await view.getByRole('button', { name: 'Merge try/pier into default' }).click()
    await question.getByRole('button', { name: 'Merge' }).click()
    await view.getByText('There is nothing to merge.').waitFor()
    assert.equal((await h.call('memory_recall', { key: 'pier' })).value, 'a pier of stone')
    await h.page.waitForFunction(() => window.host.state.informed.length > 0)
    assert.match(await h.page.evaluate(() => window.host.state.informed.join()), /memory_branch/)
  },

  async 'a branch is discarded after it was said what is lost'(c) {
    const h = await Host.open(c)
    const view = await h.show('memory_branch', { action: 'list' })
    const row = view.getByRole('listitem').filter({ hasText: 'try/gone' })
    await row.getByRole('button', { name: 'Differences' }).click()
    await view.getByRole('button', { name: 'Discard try/gone' }).click()
    const question = view.getByRole('dialog', { name: 'Delete try/gone?' })
    assert.match(await question.innerText(), /1 change[^]*only here/)
    await question.getByRole('button', { name: 'Delete' }).click()
    await view.getByText('try/gone is deleted.').waitFor()
    assert.ok(!(await h.call('memory_branch', { action: 'list' })).branches.some((b) => b.name === 'try/gone'))
  },
}
