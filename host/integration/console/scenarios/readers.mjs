// The holder of a key who may read one namespace, and change nothing.
import assert from 'node:assert/strict'

export default {
  async 'sees her part, and is offered no change'(c) {
    const page = await c.open()
    await page.getByRole('link', { name: 'seen' }).waitFor()
    assert.doesNotMatch(await page.locator('body').innerText(), /hidden/)
    await page.getByRole('link', { name: 'seen' }).click()
    await page.getByRole('heading', { name: 'seen' }).waitFor()
    for (const name of ['Edit', 'Forget', 'Archive', 'Pin', 'Move']) assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
  },

  async 'finds nothing of others by address either'(c) {
    c.expect(/40[34]/)
    const page = await c.open('memories/secret/hidden')
    await c.settled()
    assert.doesNotMatch(await page.locator('#content').innerText(), /nobody may read this/)
  },
}
