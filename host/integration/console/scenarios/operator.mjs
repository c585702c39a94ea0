// What the operator sees of the server and does to it.
import assert from 'node:assert/strict'

const parts = ['', '/metrics', '/storage', '/retention', '/embedders', '/keys', '/quotas', '/audit', '/denials', '/requests']

async function answer(page, go) {
  await page.locator('dialog').getByRole('button', { name: go, exact: true }).click()
}

export default {
  async 'the doctor says what to do, and the store verifies'(c) {
    const page = await c.open('operator')
    await page.locator('li', { hasText: 'backup' }).getByText('alcove backup FOLDER', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Verify now' }).click()
    await page.getByText(/were checked: all are whole/).waitFor()
  },

  async 'a key is shown once, holds, and is refused when it is revoked'(c) {
    const page = await c.open('operator/keys')
    await page.getByText('New key').click()
    await page.getByLabel('Agent', { exact: true }).fill('surveyor')
    await page.getByLabel('Namespaces').fill('work, team/*')
    await page.getByLabel('write', { exact: true }).uncheck()
    await page.getByRole('button', { name: 'Create' }).click()
    assert.match(await page.locator('dialog').innerText(), /may: read, in work, team\/\*, until it is revoked/)
    await answer(page, 'Create')
    const secret = await page.locator('.note code').innerText()
    const status = async () => (await fetch(c.given.address + '/operation/memory_status', { method: 'POST', headers: { Authorization: 'Bearer ' + secret }, body: '{}' })).status
    assert.equal(await status(), 200)
    await page.getByRole('button', { name: 'I have kept it' }).click()
    assert.ok(!(await page.locator('body').innerText()).includes(secret), 'the key is still shown')
    const key = page.locator('.tree > li', { hasText: 'surveyor' })
    await key.getByRole('button', { name: 'Revoke' }).click()
    await answer(page, 'Revoke')
    await key.getByText('revoked').first().waitFor()
    assert.ok([401, 403].includes(await status()), 'a revoked key is let in')
    await key.getByRole('button', { name: 'Delete' }).click()
    await answer(page, 'Delete')
    await key.waitFor({ state: 'detached' })
  },

  async 'many keys are found by a word, delegated ones below their parent'(c) {
    const page = await c.open()
    const keys = Array.from({ length: 300 }, (_, i) => ({ id: `k${i}`, agent: `agent-${i}`, namespaces: ['work'], rights: ['read'], created: '2026-05-01T00:00:00Z', ...(i % 3 === 2 && { by: { family: 'sites', parent: `k${i - 1}`, depth: 1 } }) }))
    await page.route('**/acts/keys', (r) => r.fulfill({ json: { required: true, limits: {}, keys } })) // in place of a family that delegates 300 times
    await page.goto(c.given.address + '/console/operator/keys')
    await page.locator('.tree .tree').getByText('agent-2', { exact: true }).waitFor()
    await page.getByText('delegated by sites').first().waitFor()
    await page.getByRole('searchbox').fill('agent-299')
    await page.locator('.tree > li', { hasText: 'agent-299' }).waitFor()
    assert.equal(await page.locator('.tree > li').count(), 1)
  },

  async 'the audit log is filtered, and its chain is whole'(c) {
    const page = await c.open('operator/audit')
    await page.getByText(/The chain of \d+ entries is intact/).waitFor()
    await c.call('memory_recent', {})
    await page.getByLabel('Family').fill('facts')
    await page.getByLabel('Kind').selectOption('call')
    await page.waitForURL(/family=facts.*kind=call|kind=call.*family=facts/)
    await page.locator('ol.entries').getByText('facts tool memory_recent').first().waitFor()
    await page.getByLabel('Family').fill('nothing')
    await page.getByRole('heading', { name: 'No entries' }).waitFor()
  },

  async 'a denial has its rule and its agent'(c) {
    const page = await c.open('operator/denials')
    await fetch(c.given.address + '/operation/memory_store', { method: 'POST', headers: { Authorization: 'Bearer ' + c.given.keys.reader }, body: JSON.stringify({ namespace: 'work', key: 'x', value: 'y' }) })
    await page.locator('tr', { hasText: 'reader' }).getByText(/write|read/).first().waitFor()
  },

  async 'metrics are drawn as they change'(c) {
    const page = await c.open('operator/metrics')
    await page.locator('tr', { hasText: 'memory_status' }).waitFor()
    await page.waitForFunction(() => /L/.test(document.querySelector('.chart .line')?.getAttribute('d') ?? ''))
    assert.equal(await page.locator('.chart').count(), 9)
  },

  async 'a key sees the families that it may use, and nothing of the operator'(c) {
    const page = await c.open('families', c.given.keys.reader)
    await page.getByRole('link', { name: 'core' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'facts' }).count(), 0, 'a family without the right to it is shown')
    assert.deepEqual(await page.locator('#content .tabs a').allInnerTexts(), ['Families', 'Waiting'])
    assert.equal(await page.locator('nav.side a', { hasText: 'Operator' }).count(), 0)
    await page.getByRole('link', { name: 'core' }).click()
    await page.getByText('memory_recall').waitFor()
    assert.equal(await page.locator('#content').getByRole('button').count(), 0)
    await page.goto(c.given.address + '/console/operator')
    await page.getByText('no such page').waitFor()
  },

  async 'each part can be used with a screen reader, in dark, and fits a phone'(c) {
    const page = await c.open('operator')
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 360, height: 740 })
    for (const part of parts) {
      await page.goto(c.given.address + '/console/operator' + part)
      await page.locator('h1').waitFor()
      await c.settled()
      await c.fits('operator' + part)
      await c.accessible('operator' + part)
    }
  },
}
