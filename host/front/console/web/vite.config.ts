import { defineConfig } from 'vite'

// Nothing is inlined, because the policy of the page forbids it: no data: scripts, no style in attributes.
export default defineConfig({
  base: '/console/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    rolldownOptions: { output: { hashCharacters: 'hex' } },
  },
  // For development: the session belongs to the server, so its cookie comes through here.
  server: { proxy: { '/console/api': { target: process.env.ALCOVE_CONSOLE ?? 'http://127.0.0.1:9742', ws: true } } },
})
