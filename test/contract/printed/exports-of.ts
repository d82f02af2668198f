import { join } from 'node:path'
import { API } from 'typescript/unstable/sync'

const ROOT = join(import.meta.dirname, '../../..')

/** The names that a file exports, types included. */
export function exportsOf(file: string): string[] {
  const api = new API({ cwd: ROOT })
  try {
    const snapshot = api.updateSnapshot({ openProjects: [join(ROOT, 'tsconfig.types.json')] })
    const { program, checker } = snapshot.getProjects()[0]!
    const symbol = checker.getSymbolAtLocation(program.getSourceFile(join(ROOT, file))!)!
    return checker.getExportsOfModule(symbol).map(({ name }) => name)
  } finally {
    api.close()
  }
}
