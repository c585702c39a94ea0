// A server with TLS, which asks for keys.
import assert from 'node:assert/strict'

export default {
  async 'the session is for TLS alone, and events come over it'(c) {
    const page = await c.open('sessions/events')
    assert.match(page.url(), /^https:/)
    const [cookie] = await c.context.cookies()
    assert.equal(cookie.secure, true)
    await page.getByText('live', { exact: true }).waitFor()
    await c.call('memory_store', { key: 'over TLS', value: 'stored', namespace: 'work' })
    await page.getByRole('link', { name: 'work#over TLS' }).waitFor()
  },

  async 'the operator’s ticket opens it, too'(c) {
    const page = await c.blank('memories#ticket=' + (await c.ticket()))
    await page.locator('#content').waitFor()
    await page.getByRole('link', { name: 'Operator' }).waitFor()
  },
}
