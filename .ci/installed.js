// What a script of package.json needs, said in a sentence. An older Node.js, which cannot run TypeScript, runs this as well.
import { existsSync } from 'node:fs'

if (!existsSync(new URL('../node_modules/.package-lock.json', import.meta.url))) {
  console.error(
    'callwatch is not installed in this clone: run `npm ci` first. It needs npm, and installs a Node.js that can run callwatch.',
  )
  process.exit(1)
}
