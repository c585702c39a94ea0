import { Tabs } from '../../parts'
import { route, to } from '../../route'
import { current } from '../../session'
import * as text from '../../text'
import { Page } from './family'
import { Install } from './install'
import { Known } from './known'
import { Families } from './list'
import { PostureTab } from './posture'
import { Waiting } from './waiting'
import './style.css'

const t = text.families

export function Screen() {
  const [name] = route.value.rest
  const operator = !!current()?.operator
  if (name) return operator ? <Page key={name} name={name} /> : <Known name={name} />
  const show = route.value.query.get('show') ?? 'list'
  const tabs = (operator ? (['list', 'waiting', 'posture', 'install'] as const) : (['list', 'waiting'] as const)).map((id) => ({
    id,
    name: t.tabs[id],
    href: to(['families'], id === 'list' ? {} : { show: id }),
  }))
  return (
    <>
      <h1>{text.nav.families}</h1>
      <Tabs label={text.nav.families} tabs={tabs} here={show} />
      {show === 'waiting' ? <Waiting /> : !operator ? <Known /> : show === 'posture' ? <PostureTab /> : show === 'install' ? <Install /> : <Families />}
    </>
  )
}
