import { signal, type Signal } from '@preact/signals'
import { streamAddress } from './api'
import { check } from './session'

/** An event that the server pushed, or what somebody said in a room. */
export interface Event {
  type: 'event' | 'message'
  kind?: string
  payload?: unknown
  content?: string
  from?: string
  agent?: string
  namespace: string
  timestamp: string
  version: number
  /** Of this page: later events have higher numbers. */
  number: number
}

export type Link = 'connecting' | 'live' | 'paused' | 'lost'

const again = 1000 // ms until the next attempt after a connection was lost, doubled each time
const longest = 15_000

interface Told extends Partial<Omit<Event, 'type'>> {
  type: string
  watermark?: number
  message?: string
  error?: { message: string }
}

/** The events of a branch as they happen. The newest come first; at most a number of them is kept. */
export class Stream {
  readonly events: Signal<Event[]> = signal([])
  readonly link: Signal<Link> = signal('connecting')
  /** What the server said of events that cannot be shown any more, or why it pushes none. */
  readonly note: Signal<string> = signal('')

  #arrived: Event[] = []
  #number = 0
  #socket: WebSocket | undefined
  #watermark: number | undefined
  #wait = again
  #timer = 0
  #frame = 0

  /** begin is the watermark that events come after; left out: now. */
  constructor(
    private readonly branch: string,
    private readonly most = 1000,
    begin?: number,
  ) {
    this.#watermark = begin
    this.#connect()
  }

  /** Stops until resume, which shows what happened meanwhile. */
  pause(): void {
    this.#leave()
    this.link.value = 'paused'
  }

  resume(): void {
    this.#connect()
  }

  close(): void {
    this.#leave()
    cancelAnimationFrame(this.#frame)
  }

  #leave() {
    clearTimeout(this.#timer)
    const socket = this.#socket
    this.#socket = undefined
    socket?.close()
  }

  #connect() {
    this.link.value = 'connecting'
    const socket = new WebSocket(streamAddress())
    this.#socket = socket
    socket.onopen = () =>
      socket.send(JSON.stringify({ type: 'subscribe', id: 'console', ...(this.branch && { branch: this.branch }), ...(this.#watermark !== undefined && { watermark: this.#watermark }) }))
    socket.onmessage = (m) => this.#take(JSON.parse(m.data as string) as Told)
    socket.onclose = () => {
      if (this.#socket !== socket) return // it was left
      this.link.value = 'lost'
      void check() // a browser does not say that a stream was refused
      this.#timer = window.setTimeout(() => this.#connect(), this.#wait)
      this.#wait = Math.min(2 * this.#wait, longest)
    }
  }

  #take(m: Told) {
    if (m.watermark !== undefined) this.#watermark = m.watermark
    switch (m.type) {
      case 'subscribed':
        this.#wait = again
        this.link.value = 'live'
        break
      case 'event':
      case 'message':
        this.#arrived.push({ ...(m as unknown as Event), number: ++this.#number })
        this.#frame ||= requestAnimationFrame(() => this.#show())
        break
      case 'missed':
        this.note.value = m.message ?? ''
        break
      case 'error':
        this.note.value = m.error?.message ?? ''
    }
  }

  // However many events come, the page changes once a frame.
  #show() {
    this.#frame = 0
    const arrived = this.#arrived.reverse()
    this.#arrived = []
    this.events.value = [...arrived, ...this.events.value].slice(0, this.most)
  }
}
