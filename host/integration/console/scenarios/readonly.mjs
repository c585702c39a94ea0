// What a read-only server shows, and does not offer.
import assert from 'node:assert/strict'

export default {
  async 'memories and branches are shown, and no change is offered'(c) {
    const page = await c.open('memories')
    await page.getByText('read-only', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'kept' }).click()
    await page.getByText('the text that stays').first().waitFor()
    for (const name of ['Edit', 'Forget', 'Archive', 'Pin', 'Move']) assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
    await page.goto(c.address('branches', 'default'))
    await page.getByRole('heading', { name: 'default' }).waitFor()
    assert.equal(await page.getByText('Fork default').count(), 0, 'a fork is offered')
  },

  async 'what a page would not offer is refused'(c) {
    const page = await c.open('memories')
    const { csrf } = await page.evaluate(async () => (await fetch('/console/api/session')).json())
    const send = async (path, data, headers = {}) => {
      const r = await c.context.request.post(`${c.given.address}/console/api/${path}`, { headers: { 'Alcove-Console': csrf, ...headers }, data })
      return r.text()
    }
    assert.match(await send('operation/memory_store', { key: 'kept', value: 'other' }), /can only be read/)
    assert.match(await send('acts/flush', {}, { 'Alcove-Confirm': 'flush' }), /read-only/)
  },
}
