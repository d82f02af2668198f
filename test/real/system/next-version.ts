import { appendFileSync, cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

const PROJECT = join(import.meta.dirname, '../../..')

/** The program with a made-up migration after its own, for both stores: its `main.ts`. */
export function nextVersion(): string {
  const folder = temporaryFolder()
  for (const name of ['src', 'package.json']) cpSync(join(PROJECT, name), join(folder, name), { recursive: true })
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  const step =
    'CREATE TABLE callwatch.first_ids AS SELECT id FROM callwatch.calls; ALTER TABLE callwatch.pauses ADD COLUMN note TEXT'
  const more = ['sqlite', 'postgres'].map((store) => `MIGRATIONS.${store}.steps.push('${step}')\n`)
  appendFileSync(join(folder, 'src/store/migrations.ts'), more.join(''))
  return join(folder, 'src/main.ts')
}
