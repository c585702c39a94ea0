import assert from 'node:assert/strict'

export default {
  async 'nodes are listed, chosen, and lead on'(c) {
    const page = await c.open('graph')
    await page.locator('.graph-picture canvas').first().waitFor()
    const nodes = page.getByRole('region', { name: /^Nodes/ })
    assert.match(await nodes.getByRole('heading').innerText(), /4 nodes, 3 links/)
    await nodes.getByRole('button', { name: 'Harbour', exact: true }).click()
    const chosen = page.getByRole('region', { name: 'The selected node' })
    assert.match(await chosen.innerText(), /3 links/)
    await chosen.getByRole('button', { name: 'Ada' }).click()
    await chosen.getByRole('heading', { name: 'Ada' }).waitFor()
    assert.match(page.url(), /node=/, 'the node is in the address')
    await c.accessible('the graph')
  },

  async 'kinds and relations are left out'(c) {
    const page = await c.open('graph')
    await page.getByLabel(/^depends_on/).uncheck()
    await page.getByRole('heading', { name: '4 nodes, 2 links' }).waitFor()
    await page.getByLabel(/^Memory/).uncheck()
    await page.getByRole('heading', { name: /^3 nodes/ }).waitFor()
  },

  async 'a search begins at an entity'(c) {
    const page = await c.open('graph')
    await page.getByRole('searchbox').fill('harbor') // as people misspell it
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByRole('region', { name: 'The selected node' }).getByRole('heading', { name: 'Harbour' }).waitFor()
    await page.getByRole('button', { name: 'Show all', exact: true }).click()
    await page.getByRole('region', { name: /^Nodes/ }).waitFor()
  },
}
