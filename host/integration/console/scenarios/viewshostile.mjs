import assert from 'node:assert/strict'
import { Host } from '../mcphost.mjs'

export default {
  async 'hostile content is text in every view'(c) {
    const h = await Host.open(c, { query: '?profile=full' })
    const clean = async (what) => {
      for (const f of h.page.frames()) assert.equal(await f.evaluate(() => window.pwned), undefined, what)
      const found = await h.frame().evaluate(() => document.querySelectorAll('main script, main iframe, main img, main style, main form, main input[name=q]').length)
      assert.equal(found, 0, `${what}: markup from outside is markup in the view`)
      const hidden = await h.frame().evaluate(() => /[\u202a-\u202e\u2066-\u2069\u0007\u001b\u200b]/.test(document.querySelector('main').textContent))
      assert.ok(!hidden, `${what}: invisible characters are in the text`)
      await h.fits(280, what)
    }
    let view = await h.show('memory_search', { order: 'key', k: 50 })
    await clean('hits')
    for (const key of c.given.facts.keys) {
      view = await h.show('memory_history', { key })
      await view.locator('.versions').waitFor()
      await clean(`the history of ${key}`)
    }
    view = await h.show('memory_search', { query: 'window pwned' })
    await view.locator('.hits .hit').first().click()
    await view.getByRole('button', { name: 'History' }).click()
    await view.locator('.versions').waitFor()
    await clean('a memory')
    await h.show('memory_branch', { action: 'diff', compare: 'hostile' })
    await clean('a comparison')
    view = await h.show('memory_export_graph', { format: 'json' })
    await clean('a graph')
    await view.locator('.graph-drawing .node').first().click()
    await clean('a node')
  },
}
