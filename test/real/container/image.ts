import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import {
  execForm,
  only,
  readDockerfile,
  stagesOf,
  type Instruction,
  type Stage,
} from '../../kit/container/dockerfile.ts'

/** What the Dockerfile makes, in a folder that is the image's root. */
export type Image = {
  root: string
  /** The base images of all stages. */
  bases: string[]
  /** Those of the last stage. */
  instructions: Instruction[]
  /** Where processes start, with which variables, and as which user; the same one if this process may not change users. */
  settings: { cwd: string; env: Record<string, string>; uid?: number; gid?: number }
  command: string[]
  healthcheck: string[]
  remove: () => void
}

const project = join(import.meta.dirname, '../../..')
const isRoot = process.getuid?.() === 0

/** Performs the steps of the project's Dockerfile. */
export function buildImage(): Image {
  const stages = stagesOf(readDockerfile(readFileSync(join(project, 'Dockerfile'), 'utf8')))
  const roots = new Map<string, string>()
  const built = stages.map((stage) => {
    const image = buildStage(stage, roots)
    roots.set(stage.name ?? '', image.root)
    return image
  })
  const { root, settings } = built.at(-1)!
  const { instructions } = stages.at(-1)!
  return {
    root,
    bases: stages.map(({ from }) => from),
    instructions,
    settings,
    command: [...execForm(only(instructions, 'ENTRYPOINT')), ...execForm(only(instructions, 'CMD'))],
    healthcheck: execForm(only(instructions, 'HEALTHCHECK').replace(/^.*?CMD /, '')),
    remove: () => {
      for (const { root } of built) rmSync(root, { recursive: true, force: true })
    },
  }
}

/**
 * Performs the steps of one stage. Absolute paths in it are taken below its root.
 *
 * @param roots of the stages before it, by name
 */
function buildStage({ instructions }: Stage, roots: ReadonlyMap<string, string>): Pick<Image, 'root' | 'settings'> {
  const root = mkdtempSync(join(tmpdir(), 'callwatch-image-'))
  chmodSync(root, 0o755)
  const inRoot = (text: string) => text.replaceAll(/(?<![\w.:/])\/(?=\w)/g, `${root}/`)
  const bin = installNode(root)
  const image = { cwd: root, env: { PATH: `${bin}:${process.env['PATH']}` } as Record<string, string> }
  let user = {}

  const perform: Record<string, (value: string) => void> = {
    ENV: (value) => {
      const [name = '', text = ''] = value.split(/=(.*)/s)
      image.env[name] = inRoot(text)
    },
    WORKDIR: (value) => {
      image.cwd = inRoot(value)
      mkdirSync(image.cwd, { recursive: true })
    },
    COPY: (value) => {
      const [, stage, paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(value)!
      const folder = stage === undefined ? project : roots.get(stage)!
      const sources = paths.split(' ')
      const target = resolve(image.cwd, sources.pop()!)
      for (const source of sources) {
        cpSync(join(folder, source), value.endsWith('/') ? join(target, basename(source)) : target, {
          recursive: true,
        })
      }
    },
    RUN: (value) => run(inRoot(isRoot ? value : value.replaceAll(/ -[og] \d+/g, '')), image, root),
    USER: (value) => {
      const [uid, gid] = value.split(':').map(Number)
      if (isRoot) user = { uid, gid }
    },
  }
  const noted = new Set(['LABEL', 'VOLUME', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'])
  for (const { name, value } of instructions) {
    if (noted.has(name)) continue
    if (perform[name] === undefined) throw new Error(`this test does not know ${name}`)
    perform[name](value)
  }
  return { root, settings: { ...image, ...user } }
}

/** Node.js where the base image has it, readable for everybody. */
function installNode(root: string): string {
  const bin = join(root, 'usr/local/bin')
  mkdirSync(bin, { recursive: true })
  copyFileSync(process.execPath, join(bin, 'node'))
  chmodSync(join(bin, 'node'), 0o755)
  return bin
}

function run(command: string, { cwd, env }: { cwd: string; env: Record<string, string> }, root: string): void {
  // Of the npm settings of these tests the image gets only where the registry is.
  const registry = Object.entries(process.env).filter(([name]) => /^(?:HOME|NODE_EXTRA_CA_CERTS|.*_proxy)$/i.test(name))
  const cache = { npm_config_cache: join(root, 'tmp/npm') }
  const ran = spawnSync('sh', ['-c', command], { cwd, env: { ...Object.fromEntries(registry), ...cache, ...env } })
  if (ran.status !== 0) throw new Error(`RUN ${command} failed: ${String(ran.stderr)}${String(ran.stdout)}`)
}
