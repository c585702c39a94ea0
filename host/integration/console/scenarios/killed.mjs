// A server that is killed while a page is open, and started again.
import assert from 'node:assert/strict'

/** Orders the test to do something to the server. */
const order = (c, what) => fetch(`${c.given.control}/${what}`, { method: 'POST' })

/** Begins the operator's session with the server that runs now, at the address where the page is. */
async function again(c) {
  c.given.admin = await (await order(c, 'admin')).json()
  await c.page.goto(c.page.url().split('#')[0] + '#ticket=' + (await c.ticket()))
  await c.page.reload()
  await c.page.locator('#content').waitFor()
}

export default {
  async 'nothing that a page was told to be stored is lost'(c) {
    c.expect(/WebSocket|Failed to load|ERR_/)
    const page = await c.open('memories')
    await page.evaluate(async () => {
      const { csrf } = await (await fetch('/console/api/session')).json()
      window.stored = []
      window.writing = (async () => {
        for (let i = 0; ; i++) {
          const key = `kept/${String(i).padStart(5, '0')}`
          const body = JSON.stringify({ key, value: `stored before the end: ${i}` })
          const answer = await fetch('/console/api/operation/memory_store', { method: 'POST', headers: { 'Content-Type': 'application/json', 'Alcove-Console': csrf }, body }).catch(() => null)
          if (!answer?.ok) return
          window.stored.push(key)
        }
      })()
    })
    await page.waitForFunction(() => window.stored.length >= 20)
    await order(c, 'kill')
    const stored = await page.evaluate(async () => (await window.writing, window.stored))
    await page.getByRole('searchbox').fill('before the end')
    await page.getByText('The server does not answer.').first().waitFor()
    await order(c, 'start')
    const login = page.getByRole('heading', { name: 'Open the console' })
    await Promise.race([page.getByRole('searchbox').fill('before').catch(() => {}), login.waitFor()]) // the page may have asked by itself
    await login.waitFor() // a session ends with its process
    await again(c)
    await page.locator('a.hit').first().waitFor()
    const found = new Set()
    for (let after = ''; after !== undefined; ) {
      const list = await c.call('memory_search', { prefix: 'kept/', order: 'key', k: 50, ...(after && { after }) })
      for (const r of list.results) found.add(r.key)
      after = list.next
    }
    assert.deepEqual(stored.filter((key) => !found.has(key)), [], `of ${stored.length} that were acknowledged`)
  },

  async 'a page that follows events says that the server is gone, and goes on with the next'(c) {
    c.expect(/WebSocket|Failed to load|ERR_/)
    c.given.admin = await (await order(c, 'admin')).json()
    const page = await c.open('sessions/events')
    await page.getByText('live', { exact: true }).waitFor()
    await c.call('memory_store', { key: 'event/first', value: 'before' })
    await page.getByRole('link', { name: 'default#event/first' }).waitFor()
    await order(c, 'kill')
    await page.getByText('The server does not answer. The page tries again.').waitFor()
    await order(c, 'start')
    await page.getByRole('heading', { name: 'Open the console' }).waitFor()
    await again(c)
    await page.getByText('live', { exact: true }).waitFor()
    await c.call('memory_store', { key: 'event/second', value: 'after' })
    await page.getByRole('link', { name: 'default#event/second' }).waitFor()
  },
}
