import * as text from './text'

/** A request that failed, with what the server said of it. */
export class Failure extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status = 0,
    readonly details?: unknown,
  ) {
    super(message)
  }

  static unreachable(): Failure {
    return new Failure('unavailable', text.failure.unreachable)
  }
}

interface Body {
  error?: string | { code?: string; message?: string; details?: unknown }
  code?: string
}

/** The failure that an answer tells. */
export async function failureOf(answer: Response): Promise<Failure> {
  const body = (await answer.json().catch(() => ({}))) as Body
  const told = typeof body.error === 'object' ? body.error : { message: body.error, code: body.code }
  return new Failure(told.code ?? 'internal', told.message ?? text.failure.status(answer.status), answer.status, 'details' in told ? told.details : undefined)
}
