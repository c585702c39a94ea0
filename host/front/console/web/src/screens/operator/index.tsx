import { Tabs } from '../../parts'
import { route, to } from '../../route'
import * as text from '../../text'
import { Audit } from './audit'
import { Denials } from './denials'
import { Embedders } from './embedders'
import { Health } from './health'
import { Keys } from './keys'
import { Metrics } from './metrics'
import { Quotas } from './quotas'
import { Requests } from './requests'
import { Retention } from './retention'
import { Storage } from './storage'
import './style.css'

const t = text.operator
const parts = { health: Health, metrics: Metrics, storage: Storage, retention: Retention, embedders: Embedders, keys: Keys, quotas: Quotas, audit: Audit, denials: Denials, requests: Requests }
type Part = keyof typeof parts

export function Screen() {
  const [rest] = route.value.rest
  const here: Part = rest && rest in parts ? (rest as Part) : 'health'
  const Shown = parts[here]
  return (
    <div class="operator">
      <h1>{text.nav.operator}</h1>
      <Tabs label={text.nav.operator} here={here} tabs={(Object.keys(parts) as Part[]).map((id) => ({ id, name: t.tabs[id], href: to(id === 'health' ? ['operator'] : ['operator', id]) }))} />
      <Shown />
    </div>
  )
}
