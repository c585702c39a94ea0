import assert from 'node:assert/strict'

export default {
  async 'a conversation is found, read and searched'(c) {
    const page = await c.open('sessions')
    await page.getByRole('searchbox').fill('declared')
    await page.getByRole('link', { name: /variable x is not declared/ }).click()
    const said = page.locator('.said')
    await said.first().waitFor()
    assert.equal(await said.count(), 8)
    assert.match(await said.first().innerText(), /User[^]*Why does the build fail/)
    assert.equal(await page.locator('.said.here').count(), 1, 'the turn that was found is marked')
    const find = page.getByLabel('Search in this conversation')
    await find.fill('go')
    const hits = await page.locator('.said.hit').count()
    assert.ok(hits >= 2, `${hits} hits`)
    await find.press('Enter')
    await page.getByText(`1 of ${hits}`).waitFor()
    await c.accessible('a conversation')
    await page.locator('.said.here').getByRole('link', { name: 'Memory' }).click()
    await page.waitForURL('**/console/memories/**')
  },

  async 'the conversations of a project are listed by what was said first'(c) {
    const page = await c.open('sessions')
    await page.getByRole('link', { name: 'Why does the build fail?' }).click()
    await page.getByRole('heading', { name: 'Conversation' }).waitFor()
  },

  async 'agents are listed with their keys'(c) {
    const page = await c.open('sessions/agents')
    const card = page.getByRole('region', { name: 'ann' })
    assert.match(await card.innerText(), /read[^]*write[^]*work/)
  },

  async 'events come as they happen, also after the server was away'(c) {
    c.expect(/WebSocket connection|Failed to load|ERR_CONNECTION/)
    const page = await c.open('sessions/events')
    await page.getByText('live', { exact: true }).waitFor()
    await c.call('memory_store', { key: 'first', value: 'before the restart' })
    await page.getByRole('link', { name: 'default#first' }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await c.call('memory_store', { key: 'second', value: 'meanwhile' })
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('link', { name: 'default#second' }).waitFor()
    await page.getByLabel('Only kinds').fill('no such kind')
    assert.equal(await page.locator('.events li').count(), 0)
    await c.accessible('events')

    await page.request.post(c.given.control + '/restart') // a session ends with its process
    await page.getByRole('heading', { name: 'Open the console' }).waitFor()
    await page.goto(c.given.address + '/console/sessions/events#ticket=' + (await c.ticket()))
    await page.reload()
    await page.getByText('live', { exact: true }).waitFor()
    await c.call('memory_store', { key: 'third', value: 'after the restart' })
    await page.getByRole('link', { name: 'default#third' }).waitFor()
  },
}
