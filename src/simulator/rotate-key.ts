import { hex } from './draw.ts'
import { reach } from './reached.ts'
import type { CallsService } from './service.ts'

/** From now on another key has the scope fullAccess, and the old one is not known; returns the new one. */
export function rotateKey({ keys, streams, world }: CallsService, key = `rotated-${hex(streams.tokens, 24)}`): string {
  keys.fullAccess = key
  reach(world.reached, 'key.rotated')
  return key
}
