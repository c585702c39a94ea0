import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import * as text from '../text'
import { Button } from './controls'
import { visible } from './value'

interface Question {
  title: string
  /** What will happen, in words: names, numbers, and whether it can be undone. */
  will: ComponentChildren
  /** The word on the button that does it. */
  go: string
  danger?: boolean
}

const asked = signal<(Question & { answer: (yes: boolean) => void }) | null>(null)

/** Asks before something is done. False: the person does not want it. */
export function ask(question: Question): Promise<boolean> {
  asked.value?.answer(false)
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer: (yes) => {
        asked.value = null
        resolve(yes)
      },
    }
  })
}

/** Where questions appear. */
export function Dialogs() {
  const question = asked.value
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    if (!question || ref.current?.open) return
    ref.current?.showModal()
    ref.current?.querySelector<HTMLElement>('.row.end button')?.focus() // not by autofocus, which browsers refuse in frames of other origins
  }, [question])
  if (!question) return null
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={() => question.answer(false)}>
      <h2 id={id}>{visible(question.title)}</h2>
      <div class="will">{typeof question.will === 'string' ? visible(question.will) : question.will}</div>
      <div class="row end">
        <Button onClick={() => question.answer(false)}>
          {text.dialog.cancel}
        </Button>
        <Button kind={question.danger ? 'danger' : 'main'} onClick={() => question.answer(true)}>
          {question.go}
        </Button>
      </div>
    </dialog>
  )
}
