import assert from 'node:assert/strict'

export default {
  async 'a search is typed, its hits explained, and kept in the address'(c) {
    const page = await c.open()
    await page.keyboard.press('/')
    await page.keyboard.type('harbour crane')
    const hits = page.getByRole('region', { name: 'Memories found' }).or(page.locator('#content'))
    await hits.getByRole('link', { name: 'plan/crane' }).waitFor()
    await page.getByRole('button', { name: 'Why this hit?' }).or(page.getByText('Why this hit?')).first().click()
    await page.getByText(/the sum of the words that match/).waitFor()
    await c.accessible('a search')
    await page.reload()
    await page.getByRole('link', { name: 'plan/crane' }).waitFor()
    assert.equal(await page.getByRole('searchbox').inputValue(), 'harbour crane')
  },

  async 'a memory is edited, and what it was stays in its history'(c) {
    const page = await c.open('memories/default/plan%252Fcrane')
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Value', { exact: true }).fill('The harbour gets two cranes')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved').waitFor()
    assert.equal((await c.call('memory_recall', { key: 'plan/crane' })).value, 'The harbour gets two cranes')
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
    await page.getByText(/as before/).waitFor()
    assert.equal((await c.call('memory_recall', { key: 'plan/crane' })).value, 'The harbour gets a crane')
  },

  async 'what somebody else changed meanwhile is not overwritten unseen'(c) {
    c.expect(/409/)
    const page = await c.open('memories/default/plan%252Fpier')
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Value', { exact: true }).fill('The pier is built in May')
    await c.call('memory_store', { key: 'plan/pier', value: 'The pier is built in June' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const conflict = page.getByRole('alert', { name: 'It was changed in the meantime' })
    await conflict.waitFor()
    assert.match(await conflict.innerText(), /June/)
    await c.accessible('a conflict')
    assert.equal((await c.call('memory_recall', { key: 'plan/pier' })).value, 'The pier is built in June')
    await conflict.getByRole('button', { name: 'Save mine over theirs' }).click()
    await page.getByText('Saved').waitFor()
    assert.equal((await c.call('memory_recall', { key: 'plan/pier' })).value, 'The pier is built in May')
  },

  async 'several are forgotten after a preview, and come back'(c) {
    const page = await c.open('memories?q=lighthouse')
    await page.getByRole('checkbox', { name: /^Select all/ }).check()
    await page.getByRole('button', { name: 'Forget', exact: true }).click()
    const question = page.getByRole('dialog', { name: 'Forget these memories?' })
    assert.match(await question.innerText(), /2 memories will no longer be recalled/)
    await question.getByRole('button', { name: 'Forget' }).click()
    await page.getByText(/^Forgot/).waitFor()
    assert.deepEqual(await lights(c), [])
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
    await page.getByText(/as before/).waitFor()
    assert.deepEqual(await lights(c), ['light/new', 'light/old'])
  },
}

/** The keys of the lighthouses. */
const lights = async (c) => (await c.call('memory_search', { prefix: 'light/', order: 'key' })).results.map((r) => r.key)
