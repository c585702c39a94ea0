import { Tabs } from '../../parts'
import { route, to } from '../../route'
import * as text from '../../text'
import { Agents } from './agents'
import { Chat } from './chat'
import { CheckpointPage } from './checkpoint'
import { Checkpoints } from './checkpoints'
import { Conversations } from './conversations'
import { Events } from './events'
import { Room, Rooms } from './rooms'
import './style.css'

const tabs = { conversations: Conversations, checkpoints: Checkpoints, rooms: Rooms, agents: Agents, events: Events }
type Tab = keyof typeof tabs

export function Screen() {
  const [first = 'conversations', namespace, client, session] = route.value.rest
  if (first === 'conversations' && namespace !== undefined && client !== undefined && session !== undefined) return <Chat key={session} namespace={namespace} client={client} session={session} />
  if (first === 'checkpoints' && namespace !== undefined && client !== undefined) return <CheckpointPage key={client} namespace={namespace} id={client} />
  if (first === 'rooms' && namespace !== undefined) return <Room key={namespace} namespace={namespace} />
  const tab: Tab = first in tabs ? (first as Tab) : 'conversations'
  const Shown = tabs[tab]
  return (
    <>
      <h1>{text.nav.sessions}</h1>
      <Tabs label={text.nav.sessions} here={tab} tabs={(Object.keys(tabs) as Tab[]).map((id) => ({ id, name: text.sessions.tabs[id], href: to(['sessions', id]) }))} />
      <Shown />
    </>
  )
}
