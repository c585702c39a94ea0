import assert from 'node:assert/strict'
import { Host } from '../mcphost.mjs'

const marked = { memory_search: 'ui://alcove/results', memory_history: 'ui://alcove/history', memory_branch: 'ui://alcove/branch' }
const uiOf = (tools) => Object.fromEntries(tools.filter((t) => t._meta?.ui).map((t) => [t.name, t._meta.ui.resourceUri]))

export default {
  async 'a client that shows views is told of them, another sees nothing'(c) {
    for (const mode of ['legacy', { pin: '2026-07-28' }]) {
      const shows = await Host.open(c, { mode })
      assert.deepEqual(uiOf(shows.tools), marked)
      const plain = await Host.open(c, { shows: false, mode })
      assert.deepEqual(plain.tools, shows.tools.map(({ _meta, ...rest }) => rest))
      const told = ({ extensions: { 'io.modelcontextprotocol/ui': ui, ...others } = {}, ...rest }) => ({ ui: Boolean(ui), rest: { ...rest, others } })
      assert.deepEqual(told(shows.capabilities), { ...told(plain.capabilities), ui: true })
      assert.ok(!told(plain.capabilities).ui)
    }
  },

  async 'what a search found is shown, opened and read on'(c) {
    const h = await Host.open(c)
    const view = await h.show('memory_search', { query: 'harbour', k: 3 })
    assert.deepEqual(h.shown.meta.ui.csp, { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] })
    const hits = view.locator('.hits > li')
    assert.equal(await hits.count(), h.shown.result.structuredContent.results.length)
    assert.equal(await view.locator('.hits .hit').first().innerText(), h.shown.result.structuredContent.results[0].key)
    await h.accessible('hits')
    await view.getByRole('button', { name: /^Show \d+ more/ }).click()
    await view.locator('.hits > li').nth(3).waitFor()
    await view.getByRole('button', { name: 'plan', exact: true }).click()
    await view.getByRole('heading', { name: 'plan' }).waitFor()
    await view.getByText('two cranes').waitFor()
    await view.getByRole('button', { name: 'History' }).click()
    await view.locator('.versions ins').first().waitFor()
    assert.match(await view.locator('.versions').innerText(), /v\d+[^]*changed value[^]*stored for the first time/)
    assert.match(await view.locator('.versions ins').first().innerText(), /two cranes/)
    await h.accessible('a memory')
    await view.getByRole('button', { name: 'All memories' }).click()
    assert.ok((await hits.count()) > 3)
    await h.fitted()
  },

  async 'a view is used by keyboard'(c) {
    const h = await Host.open(c)
    const view = await h.show('memory_search', { query: 'cranes harbour', k: 2 })
    await view.locator('.hits .hit').first().focus()
    await h.page.keyboard.press('Enter')
    await view.getByRole('heading').nth(1).waitFor()
    await view.getByRole('button', { name: 'All memories' }).focus()
    await h.page.keyboard.press('Enter')
    await view.locator('.hits').waitFor()
  },

  async 'the history of a memory is shown as what each version changed'(c) {
    const h = await Host.open(c)
    const view = await h.show('memory_history', { key: 'plan' })
    assert.match(await view.locator('.versions ins').first().innerText(), /two cranes/)
    assert.match(await view.locator('.versions del').first().innerText(), /a crane/)
    await h.accessible('a history')
    const last = await h.show('memory_history', {})
    assert.match(await last.locator('main').innerText(), /latest_version/)
  },
}
