import assert from 'node:assert/strict'

export default {
  async 'without a session the page says how to open it'(c) {
    c.expect(/401/)
    const page = await c.blank()
    await page.getByRole('heading', { name: 'Open the console' }).waitFor()
    assert.match(await page.locator('main').innerText(), /alcove console/)
    await c.accessible('the login')
  },

  async 'a ticket in the address begins a session, and leaves the address'(c) {
    const page = await c.blank('memories#ticket=' + (await c.ticket()))
    await page.locator('#content').waitFor()
    assert.equal(new URL(page.url()).hash, '')
    await page.reload()
    await page.locator('#content').waitFor()
  },

  async 'a ticket serves once'(c) {
    c.expect(/40[0-9]/)
    const ticket = await c.ticket()
    const page = await c.blank('memories#ticket=' + ticket)
    await page.locator('#content').waitFor()
    const other = await c.context.browser().newContext({ ignoreHTTPSErrors: true })
    const second = await other.newPage()
    await second.goto(c.given.address + '/console/#ticket=' + ticket)
    await second.getByRole('alert').waitFor({ timeout: 5000 }).catch(async (e) => assert.fail(e.message + await second.locator('body').innerText()))
    assert.equal(await second.locator('#content').count(), 0)
    await other.close()
  },

  async 'the holder of a key logs in by hand, sees who she is, and leaves'(c) {
    c.expect(/401/)
    const page = await c.blank()
    await page.getByLabel('API key').fill(c.given.keys.ann)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.locator('#content').waitFor()
    assert.match(await page.locator('header').innerText(), /ann/)
    assert.equal(await page.getByRole('link', { name: 'Operator' }).count(), 0, 'the operator’s screen is offered to a key')
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Open the console' }).waitFor()
    assert.deepEqual((await c.context.cookies()).filter((k) => k.name === 'alcove_console' && k.value), [])
  },

  async 'a wrong key is refused in words'(c) {
    c.expect(/401/)
    const page = await c.blank()
    await page.getByLabel('API key').fill('alk_wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    assert.match(await page.getByRole('alert').innerText(), /key/)
  },

  async 'scripts of the page cannot read the cookie, and other pages cannot use it'(c) {
    const page = await c.open()
    assert.equal(await page.evaluate(() => document.cookie), '')
    const [cookie] = await c.context.cookies()
    assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.path], [true, 'Strict', '/console/'])
    const status = await page.evaluate(async () => (await fetch('/console/api/operation/memory_status', { method: 'POST', body: '{}' })).status)
    assert.ok(status === 401 || status === 403, `a request without the token of the session is answered with ${status}`)
    c.expect(/40[13]/)
  },
}
