import type { History as Page } from '../screens/memories/versions'
import { History } from './memory'
import { start } from './start'

start('history', (answer, asked) => {
  if (!Array.isArray(answer['versions'])) return null
  const namespace = typeof asked['namespace'] === 'string' ? asked['namespace'] : ''
  return <History first={answer as unknown as Page} place={{ key: String(asked['key'] ?? ''), namespace }} />
})
