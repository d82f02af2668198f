import { sleep, type Clock } from '../../../src/clock/clock.ts'
import type { Transport, TransportResponse } from '../../../src/service/transport.ts'
import { answer } from '../../../src/simulator/answers/answer.ts'
import type { CallsService } from '../../../src/simulator/answers/service.ts'

/**
 * The simulated service behind the transport seam, without a network: each way takes a moment of the virtual clock, and
 * an answer that is not delivered whole fails as it would on a socket.
 *
 * @param draw from 0 to 1, for the time that each way takes
 */
export function simulatedTransport(service: CallsService, clock: Clock, draw: () => number): Transport {
  return async ({ method, path, headers, signal }) => {
    const [name = '', query = ''] = path.split(/\?(.*)/s)
    const lowered = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]))
    await sleep(clock, 0.005 + draw() * 0.05 + service.switches.answerSeconds, signal)
    const { reply, response } = answer(service, { method, path: `/v3${name}`, query, headers: lowered }, clock.wall())
    const delivered = response.delivered
    // Until the client has it all, a cut would lose it.
    response.delivered = false
    await sleep(clock, 0.005 + draw() * 0.05, signal)
    switch (reply.delivery) {
      case 'whole':
        response.delivered = delivered
        return { status: reply.status, headers: lowerCased(reply.headers), body: reply.body }
      case 'hang':
      case 'drip':
        return untilAborted(signal)
      default:
        throw Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
    }
  }
}

function lowerCased(headers: Record<string, string>): TransportResponse['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
  })
}
