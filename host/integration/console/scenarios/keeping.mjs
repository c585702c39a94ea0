// What the operator decides about what is kept: backups, retention, vectors and quotas.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'

async function answer(page, go) {
  await page.locator('dialog').getByRole('button', { name: go, exact: true }).click()
}

export default {
  async 'a backup is downloaded whole'(c) {
    const page = await c.open('operator/storage')
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download a backup' }).click()])
    const file = await readFile(await download.path())
    assert.equal(file.subarray(0, 13).toString(), 'alcove part 1')
    assert.ok(file.length > 1000, `the backup has ${file.length} bytes`)
    await page.getByRole('status').getByText('The backup is downloaded').waitFor()
  },

  async 'rules of retention are set and removed after it was said what goes'(c) {
    const page = await c.open('operator/retention')
    await page.getByText('no version is older than its rule keeps').waitFor()
    await page.getByLabel('Days', { exact: true }).fill('90')
    await page.getByRole('button', { name: 'Show what would be removed' }).click()
    assert.match(await page.locator('dialog').innerText(), /all branches[^]*Nothing is old enough to be removed now/)
    await answer(page, 'Save')
    await page.getByRole('status').getByText('The rule holds.').waitFor()
    await page.locator('tr', { hasText: 'all branches' }).getByText('90 days').waitFor()
    await page.getByLabel('For').selectOption('branch')
    await page.getByLabel('branch', { exact: true }).fill('default')
    await page.getByLabel('Days', { exact: true }).fill('30')
    await page.getByRole('button', { name: 'Show what would be removed' }).click()
    await answer(page, 'Save')
    const rule = page.locator('tr', { hasText: 'branch default' })
    await rule.getByText('30 days').waitFor()
    await rule.getByRole('button', { name: 'Remove' }).click()
    await answer(page, 'Remove')
    await rule.waitFor({ state: 'detached' })
  },

  async 'a preview of retention names each branch and what it loses'(c) {
    const page = await c.open()
    const would = { trimmed: [{ branch: 'default', from: '2026-05-01T00:00:00Z', versions: 1234, memories: 56 }], deleted: ['try'], failed: [] }
    await page.route('**/acts/retention-preview', (r) => r.fulfill({ json: would })) // in place of a memory that is older than a minute
    await page.goto(c.given.address + '/console/operator/retention')
    await page.getByText(/default: 1,234 old versions, of 56 memories/).waitFor()
    await page.getByText(/try, which was deleted, could no longer be restored/).waitFor()
    await page.getByRole('button', { name: 'Remove it now' }).click()
    assert.match(await page.locator('dialog').innerText(), /Permanently remove[^]*1,234 old versions/)
    await answer(page, 'Cancel')
  },

  async 'an embedder is checked, added, chosen and removed'(c) {
    c.expect(/422/) // an address at which nothing embeds
    const page = await c.open('operator/embedders')
    await page.getByText('Add an embedder').click()
    await page.getByLabel('Name', { exact: true }).fill('harbour')
    await page.getByLabel('Address').fill(c.given.facts.embedder + '/nothing')
    await page.getByLabel('Model').fill('m')
    const form = page.locator('details', { hasText: 'Add an embedder' })
    await form.getByRole('button', { name: 'Check' }).click()
    await form.locator('.note.bad').waitFor()
    await page.getByLabel('Address').fill(c.given.facts.embedder)
    await form.getByRole('button', { name: 'Check' }).click()
    await form.getByText(/harbour answers: 3 dimensions/).waitFor()
    assert.equal(await page.locator('.list > li', { hasText: 'harbour' }).count(), 0, 'a check adds nothing')
    await form.getByRole('button', { name: 'Add', exact: true }).click()
    assert.match(await page.locator('dialog').innerText(), /their texts are sent to http/)
    await answer(page, 'Add')
    const row = page.locator('.list > li', { hasText: 'harbour' })
    await row.getByText(/[1-9]\d* vectors, 0 wait/).waitFor()
    await row.getByText('used by searches').waitFor()
    await row.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('status').getByText(/harbour answers/).waitFor()
    await row.getByRole('button', { name: 'Regenerate the vectors' }).click()
    await answer(page, 'Regenerate the vectors')
    await page.getByRole('status').getByText('harbour regenerates its vectors').waitFor()
    await row.getByRole('button', { name: 'Remove' }).click()
    await answer(page, 'Remove')
    await row.waitFor({ state: 'detached' })
  },

  async 'a quota is set and removed'(c) {
    const page = await c.open('operator/quotas')
    await page.getByLabel('Namespace', { exact: true }).last().fill('team/board')
    await page.getByRole('button', { name: 'Set', exact: true }).click()
    await answer(page, 'Set')
    const row = page.locator('tr', { hasText: 'team/board' })
    await row.getByText('0 of 1,000').waitFor()
    await row.getByRole('button', { name: 'Remove' }).click()
    await answer(page, 'Remove')
    await row.waitFor({ state: 'detached' })
  },
}
