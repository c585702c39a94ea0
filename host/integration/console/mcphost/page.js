// An MCP client in a page, which shows the views of a server: the client of the TypeScript SDK and the host's side of its extension for apps.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { AppBridge, getToolUiResourceUri, PostMessageTransport, RESOURCE_MIME_TYPE } from '@modelcontextprotocol/ext-apps/app-bridge'

const state = { client: null, tools: [], bridge: null, informed: [], sizes: [], refuse: false }

const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [RESOURCE_MIME_TYPE] } }

/** Connects. query: of the address, such as ?profile=full; mode: the SDK's negotiation of the protocol's revision. */
async function connect({ key, shows = true, query = '', mode = 'legacy' }) {
  const client = new Client({ name: 'page', version: '1' }, { capabilities: shows ? { extensions } : {}, versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp' + query, location.href), { requestInit: { headers: { Authorization: 'Bearer ' + key } } }))
  state.client = client
  state.tools = (await client.listTools()).tools
  return { tools: state.tools, capabilities: client.getServerCapabilities() }
}

/** Calls a tool as the model does. */
async function call(name, args) {
  return state.client.callTool({ name, arguments: args })
}

/** Calls a tool as the model does, and shows its view in a frame. */
async function show({ name, args, context = {}, calls = true, width = 640 }) {
  await hide()
  const uri = getToolUiResourceUri(state.tools.find((t) => t.name === name))
  if (!uri) throw new Error(name + ' has no view')
  const { contents } = await state.client.readResource({ uri })
  const { text, mimeType, _meta } = contents[0]
  if (mimeType !== RESOURCE_MIME_TYPE) throw new Error('the view is ' + mimeType)
  const sandbox = document.createElement('iframe')
  sandbox.sandbox = 'allow-scripts allow-same-origin'
  sandbox.title = 'the view'
  sandbox.style.cssText = `width:${width}px;height:120px;border:0;display:block`
  const bridge = new AppBridge(
    state.client,
    { name: 'page', version: '1' },
    { ...(calls && { serverTools: {} }), updateModelContext: { text: {} }, openLinks: {} },
    { hostContext: { theme: 'light', displayMode: 'inline', containerDimensions: { width }, toolInfo: { tool: state.tools.find((t) => t.name === name) }, ...context } },
  )
  state.bridge = bridge
  state.sandbox = sandbox
  bridge.onsizechange = ({ height }) => {
    state.sizes.push(height)
    if (height) sandbox.style.height = Math.min(height, 4000) + 'px'
  }
  bridge.onupdatemodelcontext = async (params) => (state.informed.push(params.content?.[0]?.text), {})
  const ready = new Promise((resolve) => (bridge.onsandboxready = resolve))
  const begun = new Promise((resolve) => (bridge.oninitialized = resolve))
  document.body.append(sandbox)
  await bridge.connect(new PostMessageTransport(sandbox.contentWindow, sandbox.contentWindow))
  sandbox.src = 'http://sandbox.test/'
  await ready
  await bridge.sendSandboxResourceReady({ html: text, csp: _meta?.ui?.csp })
  await begun
  await bridge.sendToolInput({ arguments: args })
  const result = await call(name, args)
  await bridge.sendToolResult(result)
  return { uri, meta: _meta, result }
}

/** Takes the view away, as hosts do: it is asked first. */
async function hide() {
  if (!state.bridge) return
  await state.bridge.teardownResource({})
  await state.bridge.close()
  state.sandbox.remove()
  state.bridge = null
}

window.host = { state, connect, call, show, hide, theme: (theme) => state.bridge.setHostContext({ theme, displayMode: 'inline' }), width: (px) => (state.sandbox.style.width = px + 'px') }
