// Runs the scenarios of a file in Chromium: node run.mjs FILE. CONSOLE is JSON, what the Go test tells of the server. Prints a line for each scenario. In all of them, nothing fails in the page, the policy keeps nothing from
// happening, and no other host is asked.
import { chromium } from 'playwright-core'
import { Console } from './console.mjs'

const given = JSON.parse(process.env.CONSOLE)
const scenarios = (await import(`./scenarios/${process.argv[2]}.mjs`)).default
const only = process.env.SCENARIO ? new RegExp(process.env.SCENARIO) : /./

const browser = await chromium.launch({
  executablePath: given.browser,
  args: ['--force-prefers-reduced-motion', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
})
let failures = 0
for (const [name, scenario] of Object.entries(scenarios).filter(([name]) => only.test(name))) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] })
  const c = new Console(context, given)
  try {
    await scenario(c)
    c.verify()
    console.log(`ok ${name}`)
  } catch (e) {
    failures++
    console.log(`FAILED ${name}: ${e.stack ?? e}\n${await c.describe()}`)
  }
  await context.close()
}
await browser.close()
process.exitCode = failures ? 1 : 0
