import assert from 'node:assert/strict'
import { Host } from '../mcphost.mjs'

export default {
  async 'a graph is drawn, and its nodes lead on'(c) {
    const h = await Host.open(c, { query: '?profile=full' })
    assert.equal(h.tools.find((t) => t.name === 'memory_export_graph')._meta.ui.resourceUri, 'ui://alcove/graph')
    const view = await h.show('memory_export_graph', { format: 'json' })
    assert.equal(await view.locator('.graph-drawing .node').count(), 3)
    assert.equal(await view.locator('.graph-drawing line').count(), 2)
    await h.accessible('a graph')
    await view.getByRole('button', { name: 'The harbour gets two cranes' }).click()
    await view.getByRole('button', { name: 'Open the memory' }).click()
    await view.getByRole('heading', { name: 'plan' }).waitFor()
    await view.getByText('two cranes').waitFor()
    const walk = await h.show('memory_graph_query', { source_id: 'plan' })
    await walk.locator('.graph-drawing .node').filter({ hasText: 'Harbour' }).click()
    await walk.getByRole('button', { name: 'Show all its links' }).click()
    await walk.locator('.graph-drawing .node').filter({ hasText: 'Crane' }).waitFor()
    const links = await h.show('memory_get_links', { id: 'harbour' })
    assert.equal(await links.locator('.graph-drawing .node').count(), 3)
  },

  async 'a view looks as its host does, at every width'(c) {
    const h = await Host.open(c)
    for (const [name, args] of [['memory_search', { query: 'harbour' }], ['memory_history', { key: 'plan' }], ['memory_branch', { action: 'diff', compare: 'try/clash' }]]) {
      await h.show(name, args)
      for (const theme of ['light', 'dark']) {
        await h.page.evaluate((t) => window.host.theme(t), theme)
        await h.frame().waitForFunction((t) => document.documentElement.dataset.theme === t, theme)
        for (const width of [280, 480, 800]) await h.fits(width, `${name}, ${theme}`)
        await h.accessible(`${name}, ${theme}`)
      }
    }
  },

  async 'a host that calls no tools for views shows what was answered'(c) {
    const h = await Host.open(c)
    const hits = await h.show('memory_search', { query: 'harbour', k: 3 }, { calls: false })
    assert.equal(await hits.locator('.hits > li').count(), 3)
    assert.equal(await hits.getByRole('button').count(), 0)
    const diff = await h.show('memory_branch', { action: 'diff', compare: 'try/clash' }, { calls: false })
    assert.match(await diff.locator('.difference').first().innerText(), /quay[^]*brick/)
    assert.equal(await diff.getByRole('button').count(), 0)
  },

  async 'what cannot be done is said in words'(c) {
    const h = await Host.open(c)
    const view = await h.show('memory_branch', { action: 'diff', compare: 'not/there' })
    assert.match(await view.getByRole('alert').innerText(), /not\/there/)
    const reader = await Host.open(c, { key: c.given.keys.reader })
    const diff = await reader.show('memory_branch', { action: 'diff', compare: 'try/clash' })
    await diff.getByRole('button', { name: 'Merge or discard…' }).click()
    await diff.getByRole('button', { name: 'Merge try/clash into default' }).click()
    await diff.getByRole('dialog').getByRole('button', { name: 'Merge' }).click()
    await diff.locator('.toast.bad, .problem').first().waitFor()
    assert.equal((await h.call('memory_recall', { key: 'quay' })).value, 'a quay of wood')
  },
}
