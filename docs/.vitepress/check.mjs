// Every link of the built site leads to a page that is there, and to a place on it. VitePress itself checks pages, but no places.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const [site, base = '/'] = process.argv.slice(2)
const places = new Map()
const dead = []
let checked = 0

for (const page of pages()) {
  const html = readFileSync(join(site, page), 'utf8')
  for (const [, href] of html.matchAll(/<a [^>]*href="([^"]*)"/g)) check(page, href.replaceAll('&amp;', '&'))
}
if (dead.length > 0 || checked === 0) {
  console.error(`${dead.length} dead links of ${checked}:\n${[...new Set(dead)].join('\n')}`)
  process.exit(1)
}
console.log(`${pages().length} pages, ${checked} links within the site, none dead`)

function pages() {
  return readdirSync(site, { recursive: true }).filter(name => name.endsWith('.html') && name !== '404.html')
}

function check(page, href) {
  if (/^[a-z]+:/.test(href)) return
  checked++
  const [path, place] = href.split('#')
  const file = fileOf(page, path)
  if (!existsSync(file)) dead.push(`${page}: ${href}`)
  else if (place && !placesOf(file).has(decodeURIComponent(place))) dead.push(`${page}: ${href}`)
}

function fileOf(page, path) {
  const file = path.startsWith('/') ? join(site, relative(base, path)) : join(dirname(join(site, page)), path)
  return path === '' ? join(site, page) : path.endsWith('/') ? join(file, 'index.html') : file
}

function placesOf(file) {
  if (!file.endsWith('.html')) return new Set()
  if (!places.has(file)) places.set(file, new Set([...readFileSync(file, 'utf8').matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)))
  return places.get(file)
}
