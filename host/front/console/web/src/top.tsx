import type { ComponentChildren } from 'preact'
import { call, written } from './call'
import { useLoad } from './load'
import { Button, Chip, Plain, Select } from './parts'
import { visible } from './parts/value'
import { logOut, type Session } from './session'
import * as text from './text'
import { nextTheme, theme } from './theme'
import { past, view } from './view'

interface Branches {
  branches: { name: string }[]
}

interface Status {
  namespaces?: { name: string }[]
}

/** The bar above each screen: what is looked at, and by whom. */
export function Top({ session, menu }: { session: Session; menu: ComponentChildren }) {
  const branches = useLoad((abort) => call<Branches>('memory_branch', { action: 'list' }, { signal: abort }), [written.value])
  const status = useLoad((abort) => call<Status>('memory_status', { namespaces: true }, { signal: abort }), [view.branch.value, written.value])
  const names = known(branches.value?.branches, view.branch.value)
  const spaces = known(status.value?.namespaces, view.namespace.value === '*' ? '' : view.namespace.value)
  return (
    <header class="top">
      {menu}
      <Select hidden label={text.top.branch} value={view.branch.value} onChoose={(v) => (view.branch.value = v)} choices={[['', text.top.defaultBranch], ...names.filter((n) => n !== 'default').map(choice)]} />
      <Select hidden label={text.top.namespace} value={view.namespace.value} onChoose={(v) => (view.namespace.value = v)} choices={[['', text.top.ownNamespace(session.namespace)], ['*', text.top.allNamespaces], ...spaces.map(choice)]} />
      <span class="who">
        {session.read_only && <Chip>{text.top.readOnly}</Chip>}
        {session.locked && <Chip>{text.top.locked}</Chip>}
        <span class="agent">{session.operator ? text.top.operator : <Plain>{session.agent}</Plain>}</span>
        <Button icon="theme" aria-label={text.top.theme[theme.value]} title={text.top.theme[theme.value]} onClick={nextTheme} />
        <Button icon="out" aria-label={text.top.logOut} title={text.top.logOut} onClick={() => void logOut()} />
      </span>
      {past.value && (
        <p class="past">
          <span>{text.top.past(/^v\d+$/.test(view.moment.value) ? view.moment.value : new Date(view.moment.value).toLocaleString())}</span>
          <Button onClick={() => (view.moment.value = '')}>{text.top.now}</Button>
        </p>
      )}
    </header>
  )
}

const choice = (name: string): [string, string] => [name, visible(name)]

/** The names of a list, and the one that the address has, which may not exist. */
function known(list: { name: string }[] | undefined, present: string): string[] {
  const names = (list ?? []).map((n) => n.name)
  return present && !names.includes(present) ? [present, ...names] : names
}
