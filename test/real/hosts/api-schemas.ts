import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- the schemas check it
type Manifest = any

const PROJECT = join(import.meta.dirname, '../../..')

/**
 * What the schemas of Kubernetes' API, and of the Prometheus Operator, find about manifests: fields that are missing, unknown, of the
 * wrong type or with an invalid value.
 */
export async function schemaProblems(manifests: readonly Manifest[]): Promise<string[]> {
  const problems: string[] = []
  const typed: string[] = []
  for (const [i, manifest] of manifests.entries()) {
    const { apiVersion, kind } = manifest
    const models = apiVersion.startsWith('monitoring.') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'
    const model = `${models}/${apiVersion}/${kind}`
    const { [kind]: Model } = await import(model)
    try {
      new Model(manifest).validate()
    } catch (error) {
      problems.push(`${kind} ${manifest.metadata?.name}: ${String(error)}`)
    }
    typed.push(
      `import type { I${kind} as Kind${i} } from '${model}'`,
      `export const manifest${i}: Kind${i} = ${JSON.stringify(manifest)}`,
    )
  }
  // The schemas allow unknown fields, which a misspelt one is; the types do not.
  const folder = temporaryFolder()
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'manifests.ts'), typed.join('\n'))
  const options = '--strict --noEmit --skipLibCheck --module nodenext --types node'.split(' ')
  const tsc = join(PROJECT, 'node_modules/.bin/tsc')
  const { stdout } = spawnSync(tsc, [...options, 'manifests.ts'], { cwd: folder, encoding: 'utf8' })
  return [...problems, ...stdout.split('\n').filter((line) => line.includes('error'))]
}
