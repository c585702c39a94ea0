import { effect } from '@preact/signals'
import { render, type ComponentChildren } from 'preact'
import { callThrough } from '../call'
import { failed } from '../load'
import { Dialogs, Note, Problem, Toasts, Value } from '../parts'
import * as text from '../text'
import { view } from '../view'
import { answerOf, connect, input, overHost, shown } from './host'
import '../style.css'
import './style.css'

/** Draws the answer of a tool; null: it is of a form that the view does not know, and is shown as it is. */
export type Draw = (answer: Record<string, unknown>, asked: Record<string, unknown>) => ComponentChildren | null

/** Begins a view. */
export function start(name: keyof typeof text.views.names, draw: Draw): void {
  callThrough(overHost)
  document.title = text.views.names[name]
  // What is called from here is of the branch and the namespace that the call was of.
  effect(() => {
    const { branch, namespace } = input.value
    view.branch.value = typeof branch === 'string' ? branch : ''
    view.namespace.value = typeof namespace === 'string' ? namespace : ''
  })
  render(<Page name={text.views.names[name]} draw={draw} />, document.getElementById('app')!)
  connect(name).catch((e: unknown) => {
    shown.value = { is: 'answered', result: { isError: true, content: [{ type: 'text', text: JSON.stringify({ message: failed(e).message }) }] } }
  })
}

function Page({ name, draw }: { name: string; draw: Draw }) {
  return (
    <main class="view">
      <h1 class="unseen">{name}</h1>
      <Answer draw={draw} />
      <Dialogs />
      <Toasts />
    </main>
  )
}

function Answer({ draw }: { draw: Draw }) {
  const now = shown.value
  if (now.is === 'waiting') return <p class="quiet busy">{text.busy}</p>
  if (now.is === 'cancelled') return <Note>{text.views.cancelled}</Note>
  if (now.is === 'alone') return <Note>{text.views.alone}</Note>
  let answer: unknown
  try {
    answer = answerOf(now.result)
  } catch (e) {
    return <Problem failure={failed(e)} />
  }
  const known = typeof answer === 'object' && answer !== null && !Array.isArray(answer)
  return <>{(known && draw(answer as Record<string, unknown>, input.value)) || <Value of={answer} />}</>
}
