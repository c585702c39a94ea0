// The site is the Markdown of the repository as it is: links lead from page to page, and to the repository for everything else.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../..')
const repository = 'https://github.com/alcove-memory/alcove'

export default defineConfig({
  title: 'Alcove',
  description: 'A memory server for AI agents',
  srcDir: root,
  outDir: join(root, 'bin/site'),
  cacheDir: join(root, 'bin/site-cache'),
  srcExclude: ['**/testdata/**', '**/dist/**', 'bin/**', 'host/**'],
  rewrites: page => page.replace(/(^|\/)README\.md$/, '$1index.md'),
  base: process.env.SITE_BASE ?? '/',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  // Pages outside this folder find the libraries that are inside it.
  vite: { resolve: { alias: [{ find: /^vue(\/.*)?$/, replacement: join(here, 'node_modules/vue$1') }] }, build: { chunkSizeWarningLimit: 1500 } },
  markdown: {
    languageAlias: { wat: 'wasm' },
    anchor: { slugify },
    config: md => md.core.ruler.push('repository', linkOthers),
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [{ text: 'Changes', link: '/CHANGELOG' }, { text: 'Source', link: repository }],
    sidebar: sidebar(),
  },
})

// linkOthers leads links to what is no page to the repository, and fails for what is not there.
function linkOthers(state) {
  const here = dirname(state.env.path ?? join(root, 'README.md'))
  for (const token of state.tokens.flatMap(t => t.children ?? [])) {
    if (token.type !== 'link_open') continue
    const href = token.attrGet('href')
    if (/^([a-z]+:|#)/.test(href)) continue
    if (/\.md(#.*)?$/.test(href)) {
      token.attrSet('href', href.replace(/(^|\/)README\.md/, '$1index.md'))
      continue
    }
    const path = relative(root, join(here, href.replace(/#.*/, '')))
    if (!existsSync(join(root, path))) throw new Error(`${state.env.relativePath}: the link ${href} leads nowhere`)
    token.attrSet('href', `${repository}/blob/main/${path}`)
  }
}

// slugify makes the same places of headings as GitHub does, since the links are made for it.
function slugify(heading) {
  return heading.trim().toLowerCase().replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '').replace(/\s/g, '-')
}

// sidebar is the table of the README under "Documentation", then the families.
function sidebar() {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const rows = readme.split('\n## Documentation\n')[1].split('\n## ')[0].matchAll(/^\| (\w+) \| (.*) \|$/gm)
  const groups = [...rows].map(([, text, cell]) => ({ text, collapsed: false, items: links(cell) }))
  const families = readme.split('\n## Built-in families\n')[1].split('\n## ')[0]
  return [...groups, { text: 'families', collapsed: true, items: links(families) }]
}

function links(markdown) {
  return [...markdown.matchAll(/\[([^\]]+)\]\(([^)]+\.md(?:#[^)]*)?)\)/g)].map(([, text, path]) => ({
    text: text.replaceAll('`', ''),
    link: '/' + path.replace(/README\.md/, '').replace(/\.md/, ''),
  }))
}
