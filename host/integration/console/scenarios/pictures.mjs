// Takes the pictures of the documentation: facts.dir is where to.
const screens = {
  search: 'memories?q=when%20do%20we%20deploy',
  time: 'time',
  branches: 'branches',
  conversation: 'sessions/conversations/project%252Facme%252Fapp/claude-code/s1',
  checkpoints: 'sessions/checkpoints',
  graph: 'graph',
  families: 'families',
  operator: 'operator',
  retention: 'operator/retention',
}

export default {
  async 'each screen'(c) {
    const page = await c.open()
    await page.setViewportSize({ width: 1280, height: 800 })
    for (const [name, path] of Object.entries(screens)) {
      await page.goto(`${c.given.address}/console/${path}`)
      await page.locator('#content h1').first().waitFor()
      await c.settled()
      await page.waitForTimeout(1500) // the graph finds its places
      await page.screenshot({ path: `${c.given.facts.dir}/${name}.png` })
    }
  },
}
