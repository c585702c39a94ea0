// What holds for every screen.
import assert from 'node:assert/strict'

const screens = ['memories', 'time', 'branches', 'sessions', 'graph', 'families', 'operator']
const sizes = { phone: { width: 360, height: 740 }, desk: { width: 1280, height: 900 }, wall: { width: 3840, height: 2160 } }

const each = (c) => screens.filter((s) => s !== 'operator' || !c.given.key)

async function visit(c, screen) {
  await c.page.goto(`${c.given.address}/console/${screen}`)
  await c.page.locator('#content h1, #content h2').first().waitFor()
  await c.settled()
}

export default {
  async 'each can be used with a screen reader, in light and in dark'(c) {
    const page = await c.open()
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      for (const screen of each(c)) {
        await visit(c, screen)
        await c.accessible(`${screen}, ${colorScheme}`)
        assert.equal(await page.locator('h1').count(), 1, `${screen}: headings of the first level`)
      }
    }
  },

  async 'each fits a phone, a desk and a wall'(c) {
    const page = await c.open()
    for (const [name, size] of Object.entries(sizes)) {
      await page.setViewportSize(size)
      for (const screen of each(c)) {
        await visit(c, screen)
        await c.fits(`${screen}, ${name}`)
      }
    }
  },

  async 'each is reached by keyboard alone'(c) {
    const page = await c.open('time')
    for (const screen of each(c)) {
      const link = page.locator(`nav a[href^="/console/${screen}"].place`)
      await link.focus()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/console/${screen}*`)
      await page.waitForFunction(() => document.activeElement?.id === 'content' || document.activeElement?.closest('#content'))
    }
  },

  async 'each survives the back button'(c) {
    const page = await c.open('memories')
    await page.locator('nav a.place', { hasText: 'Branches' }).click()
    await page.waitForURL('**/console/branches*')
    await page.goBack()
    await page.waitForURL('**/console/memories*')
    await page.locator('nav a.place[aria-current]', { hasText: 'Memories' }).waitFor()
  },

  async 'an address that leads nowhere says so'(c) {
    const page = await c.open('nowhere')
    assert.match(await page.locator('#content').innerText(), /no such page/)
  },
}
