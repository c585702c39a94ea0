// What the console costs: prints lines of "metric NAME VALUE". facts.queries are typed.
const gap = 120 // ms between keystrokes
const watched = 10 // s of the stream

export default {
  async 'first paint, with the processor four times slower'(c) {
    const page = await c.open('memories')
    const protocol = await c.context.newCDPSession(page)
    await protocol.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    const paints = []
    const lists = []
    for (let i = 0; i < 10; i++) {
      await page.goto(`${c.given.address}/console/memories`)
      await page.locator('a.hit').first().waitFor()
      const [paint, list] = await page.evaluate(() => [performance.getEntriesByName('first-contentful-paint')[0].startTime, performance.now()])
      paints.push(paint)
      lists.push(list)
    }
    metric('paint-p50-ms', at(paints, 0.5))
    metric('list-p50-ms', at(lists, 0.5))
  },

  async 'search as it is typed'(c) {
    const page = await c.open('memories')
    await page.locator('a.hit').first().waitFor()
    await page.evaluate(watchTyping)
    const box = page.getByRole('searchbox')
    for (const query of c.given.facts.queries) {
      await box.fill('')
      await page.waitForTimeout(700)
      await box.pressSequentially(query, { delay: gap })
      await page.waitForTimeout(1000)
    }
    const times = await page.evaluate(() => window.times)
    metric('typed-p50-ms', at(times, 0.5))
    metric('typed-p95-ms', at(times, 0.95))
    metric('keystrokes', times.length)
  },

  async 'a stream of 500 events a second'(c) {
    const page = await c.open('sessions/events')
    await page.getByText('live', { exact: true }).waitFor()
    await page.evaluate(() => {
      window.frames = []
      const frame = (t) => (window.frames.push(t), requestAnimationFrame(frame))
      requestAnimationFrame(frame)
    })
    const { csrf } = await page.evaluate(async () => (await fetch('/console/api/session')).json())
    const began = Date.now()
    for (let second = 0; second < watched * 10; second++) {
      const items = Array.from({ length: 50 }, (_, i) => ({ key: `live/${second}/${i}`, value: `event ${second} ${i}` }))
      // Not from a page: the browser draws those in the background seldom.
      await c.context.request.post(`${c.given.address}/console/api/operation/memory_store`, { headers: { 'Alcove-Console': csrf }, data: { items } })
      await page.waitForTimeout(Math.max(0, began + (second + 1) * 100 - Date.now()))
    }
    const seconds = (Date.now() - began) / 1000
    const frames = await page.evaluate(() => window.frames)
    const gaps = frames.slice(1).map((t, i) => t - frames[i])
    metric('events-per-s', (watched * 500) / seconds)
    metric('frames-per-s', frames.length / ((frames.at(-1) - frames[0]) / 1000))
    metric('frame-p99-ms', at(gaps, 0.99))
  },
}

/** Runs in the page: measures from a keystroke to the frame that shows the answer to what was typed by then. */
function watchTyping() {
  window.times = []
  let from = 0
  const painted = () =>
    new Promise((resolve) =>
      requestAnimationFrame(() => {
        const channel = new MessageChannel()
        channel.port1.onmessage = resolve
        channel.port2.postMessage(0)
      }),
    )
  document.addEventListener('input', () => (from = performance.now()), true)
  new MutationObserver(async () => {
    const list = document.querySelector('.hits')
    if (!from || list?.getAttribute('aria-busy') === 'true') return
    const began = from
    from = 0
    await painted()
    window.times.push(performance.now() - began)
  }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })
}

const metric = (name, value) => console.log(`metric ${name} ${value.toFixed(1)}`)

function at(list, share) {
  const sorted = [...list].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
}
