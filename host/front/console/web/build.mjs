// Builds the console and the views: node build.mjs [FOLDER]. The views are pages of one file each, in the folder views of it.
import { readdir } from 'node:fs/promises'
import { build } from 'vite'

const outDir = process.argv[2] ?? '../dist'
const logLevel = 'warn'

await build({ logLevel, build: { outDir } })
for (const page of (await readdir('views')).sort())
  await build({
    configFile: false,
    logLevel,
    base: './',
    publicDir: false,
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    plugins: [single()],
    build: {
      outDir: `${outDir}/views`,
      emptyOutDir: false, // the build of the console has emptied it
      modulePreload: { polyfill: false },
      cssCodeSplit: false,
      target: 'es2022',
      rolldownOptions: { input: `views/${page}`, output: { codeSplitting: false } },
    },
  })

/** Puts scripts and styles into the page, which is all that an MCP client gets of a view. */
function single() {
  return {
    name: 'single-file',
    enforce: 'post',
    generateBundle(_, bundle) {
      const page = Object.values(bundle).find((f) => f.type === 'asset' && f.fileName.endsWith('.html'))
      let html = String(page.source)
      const put = (tag, name, content) => {
        const before = html
        html = html.replace(tag, () => content) // a function, because content may have $ in it
        if (html === before) throw new Error(`the page does not ask for ${name}`)
        delete bundle[name]
      }
      for (const f of Object.values(bundle)) {
        const asked = `"[^"]*${f.fileName.replaceAll('.', '\\.')}"`
        if (f.type === 'chunk') put(new RegExp(`<script[^>]*src=${asked}[^>]*></script>`), f.fileName, `<script type="module">${f.code.replaceAll('</script', '<\\/script').trim()}</script>`)
        else if (f.fileName.endsWith('.css')) put(new RegExp(`<link[^>]*href=${asked}[^>]*>`), f.fileName, `<style>${String(f.source).trim()}</style>`)
      }
      page.source = html
      page.fileName = page.fileName.replace(/.*\//, '')
      const rest = Object.keys(bundle).filter((name) => bundle[name] !== page)
      if (rest.length > 0) throw new Error(`the view has files beside its page: ${rest}`)
    },
  }
}
