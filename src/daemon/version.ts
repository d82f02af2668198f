import { readFileSync } from 'node:fs'

/** The version of callwatch, as in package.json. */
export const VERSION = readVersion()

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const manifest: unknown = JSON.parse(text)
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : 'unknown'
}
