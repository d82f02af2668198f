import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const SECONDS = 1000

test(
  'killed, held in commits, with a full and a locked store and a failing service: every promise holds',
  { timeout: 180 * SECONDS },
  async () => {
    const args = [join(import.meta.dirname, 'main.ts'), '--seconds', '40', '--seed', '7', '--json']
    // A failing run exits with 1, and the error that is thrown then shows its report.
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 170 * SECONDS, maxBuffer: 1e7 })
    expect(JSON.parse(stdout)).toMatchObject({ holds: true })
  },
)
