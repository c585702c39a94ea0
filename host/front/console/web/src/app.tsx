import { useSignal } from '@preact/signals'
import { Component, type ComponentChildren, type ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { failed } from './load'
import { Login } from './login'
import type { Failure } from './failure'
import { Button, Dialogs, Icon, Problem, Toasts } from './parts'
import { follow, route, to } from './route'
import { begin, state, type Session } from './session'
import { screens, type Screen } from './screens'
import * as text from './text'
import { Top } from './top'
import './theme'

export function App() {
  const s = state.value
  switch (s.is) {
    case 'asking':
      return <p class="quiet busy middle">{text.busy}</p>
    case 'gone':
      return (
        <main class="middle">
          <Problem failure={s.why} again={() => void begin()} />
        </main>
      )
    case 'out':
      return <Login {...(s.why && { why: s.why })} />
    case 'in':
      return <Console session={s.session} />
  }
}

function Console({ session }: { session: Session }) {
  const open = useSignal(false)
  const opened = useRef(0)
  const here = route.value.screen
  const offered = screens.filter((s) => !s.operators || session.operator)
  const screen = offered.find((s) => s.name === here)
  useEffect(() => {
    document.title = screen ? `${text.nav[screen.name]} · ${text.title}` : text.title
    open.value = false
  }, [here])
  return (
    <div class={open.value ? 'console open' : 'console'} onClick={follow}>
      <a class="skip" href="#content" onClick={(e) => (e.preventDefault(), document.getElementById('content')?.focus())}>
        {text.nav.skip}
      </a>
      <nav class="side" aria-label={text.nav.label}>
        <a class="brand" href={to(['memories'])}>
          {text.title}
        </a>
        {offered.map((s) => (
          <a key={s.name} class="place" href={to([s.name])} aria-current={s.name === here ? 'page' : undefined}>
            <Icon name={s.name} />
            <span>{text.nav[s.name]}</span>
          </a>
        ))}
      </nav>
      <Top session={session} menu={<Button class="menu" icon="menu" aria-label={text.nav.menu} aria-expanded={open.value} onClick={() => (open.value = !open.value)} />} />
      <main id="content" tabIndex={-1}>
        {screen ? <Opened key={screen.name} screen={screen} opened={opened} /> : <Missing />}
      </main>
      <Dialogs />
      <Toasts />
    </div>
  )
}

/** A screen, once its code is here. */
function Opened({ screen, opened }: { screen: Screen; opened: { current: number } }) {
  const [code, setCode] = useState<{ Screen?: ComponentType; failure?: Failure }>({})
  useEffect(() => {
    screen.load().then(
      ({ Screen }) => setCode({ Screen }),
      (e: unknown) => setCode({ failure: failed(e) }),
    )
    // Whoever moves by keyboard goes on in the screen that opened, except at the first one.
    if (opened.current++ > 0) document.getElementById('content')?.focus()
  }, [screen])
  if (code.failure) return <Problem failure={code.failure} again={() => location.reload()} />
  return code.Screen ? (
    <Contained>
      <code.Screen />
    </Contained>
  ) : (
    <p class="quiet busy">{text.busy}</p>
  )
}

/** Keeps a fault of a screen from taking the rest of the page with it. */
class Contained extends Component<{ children: ComponentChildren }, { failure?: Failure }> {
  override componentDidCatch(e: unknown) {
    console.error(e)
    this.setState({ failure: failed(e) })
  }

  override render() {
    return this.state.failure ? <Problem failure={this.state.failure} again={() => location.reload()} /> : this.props.children
  }
}

function Missing() {
  return (
    <div class="empty">
      <h1>{text.missing.title}</h1>
      <p>{text.missing.hint}</p>
    </div>
  )
}
