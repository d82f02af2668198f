import type { CallsService } from './service.ts'
import { defaultSwitches } from './switches.ts'
import { calm } from './world.ts'

/**
 * From now on the service behaves as its reference says: every fault, odd way to show things and movement ends, and
 * nothing out of the ordinary becomes of any call. What has happened stays, and what is turned is still turned back:
 * a call that is gone for a while returns, one that was opened again ends again. Whether calls arrive stays as it is.
 */
export function heal(service: CallsService): void {
  service.switches = { ...defaultSwitches, arrivals: service.switches.arrivals }
  service.cache.clear()
  calm(service.world)
}
