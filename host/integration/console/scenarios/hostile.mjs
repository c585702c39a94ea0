// Memories whose keys, values, tags, types and names try to be more than text.
import assert from 'node:assert/strict'

const screens = ['memories', 'time', 'branches', 'sessions', 'sessions/agents', 'graph', 'families', 'operator', 'memories?q=script', 'sessions?q=script', 'memories?ns=*']

export default {
  async 'is shown as text on every screen, and nothing of it runs'(c) {
    const page = await c.open()
    page.on('dialog', (d) => assert.fail(`a dialog opened: ${d.message()}`))
    for (const screen of screens) {
      await page.goto(`${c.given.address}/console/${screen}`)
      await page.locator('#content h1, #content h2').first().waitFor()
      await c.settled()
      await untouched(page, screen)
    }
    await page.goto(`${c.given.address}/console/memories`)
    await c.settled()
    assert.match(await page.locator('#content').innerText(), /<script>window\.pwned/)
  },

  async 'is shown as text on the page of each memory'(c) {
    const page = await c.open()
    for (const key of c.given.facts.keys) {
      await page.goto(c.address('memories', 'default', key))
      await page.locator('#content h1').first().waitFor()
      await c.settled()
      await untouched(page, key)
      await c.fits(key)
    }
  },
}

async function untouched(page, where) {
  const found = await page.evaluate(() => ({
    ran: 'pwned' in window,
    title: document.title,
    made: [...document.querySelectorAll('#content script, #content iframe, #content object, #content embed, #content img, #content style, #content form[action^="http"], #content [onerror], #content [onclick], #content a[href^="javascript"]')].map((e) => e.outerHTML.slice(0, 100)),
    turned: [...document.querySelector('#content').innerText].filter((ch) => /[\u202a-\u202e\u2066-\u2069\u0000-\u0008]/.test(ch)).length,
  }))
  assert.deepEqual(found, { ran: false, title: found.title, made: [], turned: 0 }, where)
  assert.ok(!/pwned|PWNED/.test(found.title) || /Alcove/.test(found.title), where)
}
