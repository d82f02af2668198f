import { isMap } from '../schema/path.ts'
import { readAnswer } from './read-answer.ts'
import { networkError, ServiceError } from './service-error.ts'
import type { Transport } from './transport.ts'

/** The minutes of a period by the vendor's own count, and the unit of times in which it was asked; undefined if both answers have as many. */
export type VendorMinutes = { audio: number; video: number; recorded: number; askedIn: Unit | undefined }

const UNITS = { seconds: 1, milliseconds: 1000 } as const
type Unit = keyof typeof UNITS

/** A number of minutes, which may be text; undefined for anything else. */
function minutesIn(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value)
  const minutes = isText ? Number(value) : value
  return typeof minutes === 'number' && minutes >= 0 ? minutes : undefined
}

type Asking = {
  apiKey: string
  /** UNIX seconds. */
  from: number
  to: number
  /** The host's clock (UNIX seconds). */
  hostTime: () => number
  signal: () => AbortSignal
}

/**
 * Asks the chat service for the usage metrics of an app (published: `GET /stats`). In which unit it expects times is not published: it is
 * asked in both, and the answer that has minutes counts.
 *
 * @param transport to the chat service's base address
 * @throws {ServiceError} if it answers neither
 */
export async function vendorMinutes(transport: Transport, asking: Asking): Promise<VendorMinutes> {
  const asked = []
  const errors: ServiceError[] = []
  for (const unit of ['seconds', 'milliseconds'] as const) {
    try {
      asked.push({ ...(await ask(transport, asking, unit)), askedIn: unit })
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      errors.push(error)
    }
  }
  const [most] = asked.toSorted((a, b) => b.audio + b.video - (a.audio + a.video))
  if (most === undefined) throw errors[0]!
  const isClear = asked.every((one) => one === most || one.audio + one.video < most.audio + most.video)
  return { ...most, askedIn: isClear ? most.askedIn : undefined }
}

async function ask(transport: Transport, { apiKey, from, to, hostTime, signal }: Asking, unit: Unit) {
  const path = `/stats?fromDate=${from * UNITS[unit]}&toDate=${to * UNITS[unit]}`
  const headers = { accept: 'application/json', apikey: apiKey }
  const response = await transport({ method: 'GET', path, headers, signal: signal() }).catch((error: unknown) => {
    throw networkError(error)
  })
  const body = readAnswer(response, { now: hostTime(), apiKey })
  const data = isMap(body) && isMap(body['data']) ? body['data'] : body
  const metrics = isMap(data) && isMap(data['metrics']) ? data['metrics'] : {}
  const [audio, video, recorded = 0] = ['audio', 'video', 'recorded'].map((of) => minutesIn(metrics[`${of}_minutes`]))
  if (audio === undefined || video === undefined)
    throw new ServiceError('invalid', 'the chat service answered without minutes')
  return { audio, video, recorded }
}
